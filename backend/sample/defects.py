"""Harms a clean board in the six ways of DeepPCB, each checked by what it does to the copper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.sample import changes, strokes
from backend.sample.ground import Ground

_HALF = 56
_TRIES = 14
_APART = 24


@dataclass(frozen=True, slots=True)
class DefectKind:
    """A defect: where it may be, how to try for it, and how to know it was met."""

    name: str
    removes: bool
    spots: Literal["ridges", "edges", "bare", "deep"]
    propose: Callable[[Generator, Ground, int, int], strokes.Stroke | None]
    holds: Callable[[changes.PlacedPatch], bool]


KINDS = (
    DefectKind("open", True, "ridges", strokes.cut, changes.is_open),
    DefectKind("short", False, "edges", strokes.short, changes.is_short),
    DefectKind("mousebite", True, "edges", strokes.mousebite, changes.is_mousebite),
    DefectKind("spur", False, "edges", strokes.spur, changes.is_spur),
    DefectKind("copper", False, "bare", strokes.copper, changes.is_copper),
    DefectKind("pin-hole", True, "deep", strokes.pin_hole, changes.is_pin_hole),
)


@dataclass(frozen=True, slots=True)
class Defect:
    """A kind of defect and the pixels that it changed."""

    kind: DefectKind
    patch: changes.Patch

    def apply(self, copper: NDArray[np.uint8]) -> None:
        """Change the copper of a view."""
        height, width = self.patch.pixels.shape
        top, left = self.patch.top, self.patch.left
        copper[top : top + height, left : left + width][self.patch.pixels] = (
            0 if self.kind.removes else 255
        )


def inject(rng: Generator, ground: Ground, count: int) -> list[Defect]:
    """Up to `count` defects of mixed kinds whose surroundings do not overlap."""
    rounds = (rng.permutation(len(KINDS)) for _ in range(count // len(KINDS) + 1))
    found: list[Defect] = []
    taken = np.zeros(ground.copper.shape, bool)
    for index in [int(index) for order in rounds for index in order][:count]:
        patch = _attempt(rng, ground, KINDS[index], taken)
        if patch is not None:
            found.append(Defect(KINDS[index], patch))
            x1, y1, x2, y2 = (int(v) for v in patch.corners)
            taken[y1 - _APART : y2 + _APART, x1 - _APART : x2 + _APART] = True
    return found


def _attempt(
    rng: Generator, ground: Ground, kind: DefectKind, taken: NDArray[np.bool_]
) -> changes.Patch | None:
    candidates: NDArray[np.intp] = getattr(ground, kind.spots)
    if not len(candidates):
        return None
    for index in rng.choice(candidates, _TRIES):
        y, x = divmod(int(index), taken.shape[1])
        stroke = None if taken[y, x] else kind.propose(rng, ground, y, x)
        patch = None if stroke is None else _paint(ground, kind, y, x, stroke)
        if patch is None or _touches(taken, patch):
            continue
        if kind.holds(changes.PlacedPatch(ground, patch)):
            return patch
    return None


def _touches(taken: NDArray[np.bool_], patch: changes.Patch) -> bool:
    x1, y1, x2, y2 = (int(v) for v in patch.corners)
    height, width = taken.shape
    if min(x1, y1) < 12 or x2 > width - 12 or y2 > height - 12:
        return True
    return bool(taken[y1:y2, x1:x2].any())


def _paint(
    ground: Ground, kind: DefectKind, y: int, x: int, stroke: strokes.Stroke
) -> changes.Patch | None:
    """The pixels that a stroke of varying thickness changes around (y, x)."""
    canvas = np.zeros((2 * _HALF, 2 * _HALF), np.uint8)
    points, radii = stroke
    dots = np.round((points[:, ::-1] + _HALF) * 16).astype(np.int32)
    for dot, radius in zip(dots, radii, strict=True):
        cv2.circle(canvas, dot.tolist(), round(float(radius) * 16), 1, -1, cv2.LINE_8, 4)
    top, left = max(0, y - _HALF), max(0, x - _HALF)
    copper = ground.copper[top : y + _HALF, left : x + _HALF]
    skip_y, skip_x = top - (y - _HALF), left - (x - _HALF)
    height, width = copper.shape
    brushed = canvas[skip_y : skip_y + height, skip_x : skip_x + width] > 0
    pixels = brushed & (copper == (1 if kind.removes else 0))
    size = int(np.count_nonzero(pixels))
    return changes.Patch(left, top, pixels) if 28 <= size <= 900 else None
