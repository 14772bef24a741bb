"""What is written of a picture: the boxes of a detector, or the one answer of a classifier."""

from __future__ import annotations

import functools
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


def of(family: str, boxes: Detections, labels: Sequence[Label]) -> Answers:
    """The detections, and the facts that stand beside them."""
    if families.answers_once(family):
        return one(boxes, labels)
    kept = merged.once(boxes, [labels.index(each) for each in labels])
    return named(kept, labels), staged(kept, labels)


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


@functools.lru_cache(8)
def _places(labels: tuple[Label, ...]) -> tuple[int, ...]:
    """Of each label the first place at which it stands; those of a run are always the same."""
    return tuple(labels.index(each) for each in labels)


def one(boxes: Detections, labels: Sequence[Label]) -> Answers:
    """The likeliest class over the whole picture, and the chances of all, the best first.

    Classes that were merged since the training have one chance together.
    """
    places, chances = _places(tuple(labels)), dict[int, float]()
    for *_, score, of_class in boxes.tolist():
        place = places[int(of_class)]
        chances[place] = chances.get(place, 0.0) + score
    order = sorted(chances, key=lambda place: -chances[place])
    if not order:
        return (), {}
    best, (_, _, width, height, *_) = labels[order[0]], boxes[0].tolist()
    answer = Detection(
        0.0, 0.0, width, height, best.name, min(1.0, chances[order[0]]), 0, best.class_id
    )
    told = [[labels[at].class_id, labels[at].name, round(chances[at], DIGITS)] for at in order]
    return (answer,), {findings.CHANCES: told}
