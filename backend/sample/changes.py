"""What a brush did to the copper, and whether that is the defect it was meant to be."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.sample.drawn import Mask
from backend.sample.ground import Ground


@dataclass(frozen=True, slots=True)
class Patch:
    """What was changed: `pixels` is true where, from the corner (left, top) on."""

    left: int
    top: int
    pixels: NDArray[np.bool_]

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """The smallest box around the change."""
        rows, cols = (np.flatnonzero(self.pixels.max(axis)) for axis in (1, 0))
        return (
            float(self.left + cols[0]),
            float(self.top + rows[0]),
            float(self.left + cols[-1] + 1),
            float(self.top + rows[-1] + 1),
        )


class PlacedPatch:
    """A patch with what lies around it."""

    def __init__(self, ground: Ground, patch: Patch) -> None:
        x1, y1, x2, y2 = (int(v) for v in patch.corners)
        self.window = (slice(y1 - 10, y2 + 10), slice(x1 - 10, x2 + 10))
        self.before = ground.copper[self.window]
        self.pieces = ground.pieces[self.window]
        self.inside = ground.inside[self.window]
        self.outside = ground.outside[self.window]
        self.pixels = np.zeros(self.before.shape, np.uint8)
        row, col = y1 - patch.top, x1 - patch.left
        inner = patch.pixels[row : row + y2 - y1, col : col + x2 - x1]
        self.pixels[10:-10, 10:-10] = inner

    def one_blot(self) -> bool:
        return int(cv2.connectedComponents(self.pixels)[0]) == 2

    def near(self, reach: int) -> set[int]:
        """The pieces of copper within reach of the change."""
        grown = cv2.dilate(self.pixels, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
        return set(self.pieces[grown > 0].tolist()) - {0}

    def parts_left(self, neck: int) -> int:
        """Into how many parts of some size the copper here falls, thinner necks not counted."""
        left = self.before & (1 - self.pixels)
        if neck:
            left = _thinned(left, neck)
        return _parts(left)

    def parts_before(self, neck: int) -> int:
        """The same for the clean board."""
        return _parts(_thinned(self.before, neck))


def _thinned(copper: Mask, neck: int) -> Mask:
    return cv2.erode(copper, np.ones((neck, neck), np.uint8)).astype(np.uint8, copy=False)


def _parts(copper: Mask) -> int:
    sizes = cv2.connectedComponentsWithStats(copper, connectivity=4)[2][1:, cv2.CC_STAT_AREA]
    return int(np.count_nonzero(sizes >= 12))


def _where(values: NDArray[np.float32], pixels: Mask) -> NDArray[np.float32]:
    return values[pixels > 0]


def is_pin_hole(change: PlacedPatch) -> bool:
    return change.one_blot() and bool(_where(change.inside, change.pixels).min() >= 3.5)


def is_copper(change: PlacedPatch) -> bool:
    return change.one_blot() and bool(_where(change.outside, change.pixels).min() >= 4)


def is_mousebite(change: PlacedPatch) -> bool:
    depth = _where(change.inside, change.pixels)
    whole = change.parts_left(3) <= change.parts_before(3)
    return bool(depth.min() < 1.5 and depth.max() >= 3) and whole and change.one_blot()


def is_spur(change: PlacedPatch) -> bool:
    depth = _where(change.outside, change.pixels)
    ring = cv2.min(cv2.dilate(change.pixels, np.ones((3, 3), np.uint8)), change.before)
    anchored = int(cv2.connectedComponents(ring)[0]) == 2
    return bool(depth.max() >= 4) and anchored and len(change.near(4)) == 1 and change.one_blot()


def is_short(change: PlacedPatch) -> bool:
    return len(change.near(1)) == 2 and len(change.near(3)) == 2 and change.one_blot()


def is_open(change: PlacedPatch) -> bool:
    whole = cv2.connectedComponentsWithStats(change.before, connectivity=4)[2][1:]
    parts = int(np.count_nonzero(whole[:, cv2.CC_STAT_AREA] >= 12))
    return change.parts_left(0) == parts + 1 and change.one_blot()
