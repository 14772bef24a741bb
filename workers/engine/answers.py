"""What is written of a picture: the boxes of a detector, or the one answer of a classifier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from backend import families
from backend.domain import Detection
from backend.models.choice import Label
from backend.storage import findings
from workers import merged
from workers.families.base import STAGED, Detections

DIGITS = 6
Answers = tuple[tuple[Detection, ...], dict[str, Any]]


class Reading:
    """How the rows of a model are read in a project; each run, evaluation or try has one."""

    def __init__(self, family: str, labels: Sequence[Label]) -> None:
        self.labels = labels
        self._once = families.answers_once(family)
        # Of each class the first place with its label; asked for every picture it would take long.
        self._places = [labels.index(each) for each in labels]

    def of(self, boxes: Detections) -> Answers:
        """The detections, and the facts that stand beside them."""
        if self._once:
            return one(boxes, self.labels, self._places)
        kept = merged.once(boxes, self._places)
        return named(kept, self.labels), staged(kept, self.labels)


def named(kept: Detections, labels: Sequence[Label]) -> tuple[Detection, ...]:
    """The boxes of a model as detections, best first."""
    return tuple(
        Detection(x1, y1, x2, y2, labels[int(of)].name, score, idx, labels[int(of)].class_id)
        for idx, (x1, y1, x2, y2, score, of, *_) in enumerate(kept.tolist())
    )


def staged(kept: Detections, labels: Sequence[Label]) -> dict[str, Any]:
    """What the detector alone said of the boxes, by their numbers; nothing where it is alone."""
    if kept.shape[1] != STAGED or not len(kept):
        return {}
    told = [
        [labels[int(of)].class_id, labels[int(of)].name, round(score, DIGITS)]
        for score, of in kept[:, 6:].tolist()
    ]
    return {findings.STAGES: told}


def one(boxes: Detections, labels: Sequence[Label], places: Sequence[int]) -> Answers:
    """The likeliest class over the whole picture, and the chances of all, the best first.

    Classes that were merged since the training have one chance together.
    """
    chances: dict[int, float] = {}
    rows = boxes.tolist()
    for *_, score, of_class in rows:
        place = places[int(of_class)]
        chances[place] = chances.get(place, 0.0) + score
    order = sorted(chances, key=chances.__getitem__, reverse=True)
    if not order or any(map(math.isnan, chances.values())):
        return (), {}  # a network that has gone astray has no answer, and no row could keep it
    _, _, width, height, *_ = rows[0]
    best, likely = labels[order[0]], min(1.0, chances[order[0]])
    answer = Detection(0.0, 0.0, width, height, best.name, likely, 0, best.class_id)
    told = [[labels[at].class_id, labels[at].name, round(chances[at], DIGITS)] for at in order]
    return (answer,), {findings.CHANCES: told}
