"""What there is to know of a clean view before anything is put wrong on it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.sample.drawn import Mask

# Defects keep away from the border of a view by this many pixels.
_MARGIN = 26


@dataclass(frozen=True, slots=True)
class Ground:
    """A view before anything goes wrong: its copper, the pieces of it, and how deep each is."""

    copper: Mask
    pieces: NDArray[np.int32]
    inside: NDArray[np.float32]
    outside: NDArray[np.float32]
    edges: NDArray[np.intp]
    deep: NDArray[np.intp]
    bare: NDArray[np.intp]
    ridges: NDArray[np.intp]


def survey(copper: Mask, hidden: Mask) -> Ground:
    """Look once at a clean view; nothing is put where `hidden`, such as silkscreen, lies."""
    solid = (copper > 127).astype(np.uint8)
    pieces = cv2.connectedComponents(solid, connectivity=4, ltype=cv2.CV_32S)[1]
    inside = cv2.distanceTransform(solid, cv2.DIST_L2, 3)
    outside = cv2.distanceTransform(1 - solid, cv2.DIST_L2, 3)
    usable = hidden == 0
    usable[:_MARGIN] = usable[-_MARGIN:] = False
    usable[:, :_MARGIN] = usable[:, -_MARGIN:] = False
    top = cv2.dilate(inside, np.ones((3, 3), np.uint8))
    ridge = (inside == top) & (inside >= 2) & (inside <= 21)

    def spots(where: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.flatnonzero(where & usable)

    return Ground(
        solid,
        pieces.astype(np.int32, copy=False),
        inside.astype(np.float32, copy=False),
        outside.astype(np.float32, copy=False),
        spots((inside > 0) & (inside < 1.5)),
        spots(inside >= 6),
        spots(outside >= 11),
        spots(ridge),
    )
