"""What a model finds, by the classes of now: two that it was taught may have become one since."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workers.families import nms
from workers.families.base import STAGED, Detections

# Two boxes of one class that overlap so far are one defect, as they are where runs are measured.
SAME = 0.5
CLASSES = {6: [5], STAGED: [5, 7]}  # the columns that hold classes


def renumbered(found: Detections, places: Sequence[int]) -> Detections:
    """The boxes with each class at its place; those of a class without one (-1) are left out."""
    if list(places) == list(range(len(places))):
        return found
    moved, table = found.copy(), np.array([*places, -1], np.float32)
    for column in CLASSES[found.shape[1]]:
        moved[:, column] = table[found[:, column].astype(int)]
    return moved[(moved[:, CLASSES[found.shape[1]]] >= 0).all(axis=1)]


def once(found: Detections, places: Sequence[int]) -> Detections:
    """The same, best first; of two boxes on one spot whose classes were merged, the better one."""
    moved = renumbered(found, places)
    there = [place for place in places if place >= 0]
    if len(set(there)) == len(there):
        return moved
    return nms.suppress(moved, SAME, len(moved))


def likeliest(found: Detections, places: Sequence[int]) -> Detections:
    """A row a class of now, the likeliest first; merged classes have one chance together."""
    moved = renumbered(found, places)
    chances: dict[float, float] = {}
    for *_, score, place in moved.tolist():
        chances[place] = chances.get(place, 0.0) + score
    order = sorted(chances, key=lambda place: -chances[place])
    rows = [(*moved[0, :4].tolist(), min(1.0, chances[place]), place) for place in order]
    return np.array(rows, np.float32).reshape(-1, 6)
