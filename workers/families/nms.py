"""Keeps the best of boxes that lie on each other (non-maximum suppression)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workers.families.base import Detections

MOST = 300


def suppress(boxes: Detections, iou: float, most: int = MOST) -> Detections:
    """Of boxes sorted best first, those that no better one of the same class covers."""
    if len(boxes) < 2:
        return boxes
    return boxes[_kept(boxes, iou, most)]


def _kept(boxes: Detections, iou: float, most: int) -> list[int]:
    covered = _covered(boxes, iou)
    alive = np.ones(len(boxes), bool)
    kept: list[int] = []
    for i in range(len(boxes)):
        if alive[i]:
            kept.append(i)
            if len(kept) == most:
                break
            alive &= ~covered[i]
    return kept


def _covered(boxes: Detections, iou: float) -> NDArray[np.bool_]:
    """Whether each box lies on each other one; in float32, as this runs for every picture."""
    x1, y1, x2, y2, _, label = boxes[:, :6].T
    areas = (x2 - x1) * (y2 - y1)
    width = np.minimum.outer(x2, x2) - np.maximum.outer(x1, x1)
    height = np.minimum.outer(y2, y2) - np.maximum.outer(y1, y1)
    shared = width.clip(0) * height.clip(0)
    over = shared > iou * (np.add.outer(areas, areas) - shared)
    return np.asarray(over & np.equal.outer(label, label))
