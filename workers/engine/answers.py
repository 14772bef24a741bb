"""What is written of a picture: the boxes of a detector, or the one answer of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend import families
from backend.domain import Detection
from backend.models.choice import Label
from backend.storage import findings
from workers import merged
from workers.families.base import Detections

DIGITS = 6
Answers = tuple[tuple[Detection, ...], dict[str, Any]]


def of(family: str, boxes: Detections, labels: Sequence[Label]) -> Answers:
    """The detections, and the facts that stand beside them."""
    return one(boxes, labels) if families.answers_once(family) else (named(boxes, labels), {})


def named(boxes: Detections, labels: Sequence[Label]) -> tuple[Detection, ...]:
    """The boxes of a model as detections, best first."""
    kept = merged.once(boxes, [labels.index(one) for one in labels])
    return tuple(
        Detection(x1, y1, x2, y2, labels[int(of)].name, score, idx, labels[int(of)].class_id)
        for idx, (x1, y1, x2, y2, score, of) in enumerate(kept.tolist())
    )


def one(boxes: Detections, labels: Sequence[Label]) -> Answers:
    """The likeliest class over the whole picture, and the chances of all, the best first.

    Classes that were merged since the training have one chance together.
    """
    chances: dict[int, float] = {}
    for *_, score, of_class in boxes.tolist():
        place = labels.index(labels[int(of_class)])
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
