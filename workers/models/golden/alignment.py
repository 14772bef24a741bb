"""Piecewise alignment: a smooth field of small shifts, found by least squares on grey levels.

Every tile of a coarse grid takes Gauss-Newton steps on the blurred pictures. Normal equations are
pooled over neighbouring tiles, so one defect cannot pull its tile, and a tile without structure
keeps what its neighbours say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
CELL = 16  # pixels of the reduced picture
POOL = 5 / 3  # cells, sigma
SMOOTH = 1.0  # cells, sigma
STEADY = 0.02  # how much a tile resists being moved, relative to the picture's mean structure
STEP = 2.0  # pixels, the longest step


@dataclass(frozen=True, slots=True)
class Field:
    """Shifts on a coarse grid: golden(x + dx, y + dy) shows what board(x, y) does."""

    dx: Floats
    dy: Floats

    def dense(self, width: int, height: int) -> tuple[Floats, Floats]:
        """The shift of each pixel."""
        size = (width, height)
        return _floats(cv2.resize(self.dx, size)), _floats(cv2.resize(self.dy, size))


def align(board: NDArray[np.uint8], golden: NDArray[np.uint8], scale: float = 0.5) -> Field:
    """The field that lays the golden on the board; both grey, of one size, nearly in place."""
    coarse = _reduced(board, 0.25), _reduced(golden, 0.25)
    dx, dy = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32)
    for _ in range(3):
        dx, dy = _whole_step(*coarse, dx, dy)
    fine = _reduced(board, scale), _reduced(golden, scale)
    height, width = fine[0].shape
    cells = (max(1, round(width / CELL)), max(1, round(height / CELL)))
    factor = scale / 0.25
    dx, dy = _floats(cv2.resize(dx, cells)) * factor, _floats(cv2.resize(dy, cells)) * factor
    for _ in range(3):
        dx, dy = _tile_step(*fine, dx, dy)
    return Field(dx / scale, dy / scale)


@lru_cache(maxsize=8)
def grid(width: int, height: int) -> tuple[Floats, Floats]:
    """The x and y of every pixel; shared, never written to."""
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    x.flags.writeable = y.flags.writeable = False
    return x, y


def _floats(array: cv2.typing.MatLike) -> Floats:
    return np.asarray(array, np.float32)


def _reduced(picture: NDArray[np.uint8], scale: float) -> Floats:
    size = (max(8, int(picture.shape[1] * scale)), max(8, int(picture.shape[0] * scale)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return _floats(cv2.GaussianBlur(small * np.float32(1 / 255), (0, 0), 1.2))


def _equations(
    board: Floats, golden: Floats, dx: Floats, dy: Floats, cells: tuple[int, int]
) -> list[Floats]:
    """Mean gxx, gxy, gyy, gx·d, gy·d of each cell at the present shift."""
    height, width = board.shape
    x, y = grid(width, height)
    size = (width, height)
    moved = cv2.remap(
        golden,
        x + _floats(cv2.resize(dx, size)),
        y + _floats(cv2.resize(dy, size)),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    gx = cv2.Sobel(moved, cv2.CV_32F, 1, 0, scale=0.125)
    gy = cv2.Sobel(moved, cv2.CV_32F, 0, 1, scale=0.125)
    rest = board - moved
    products = (gx * gx, gx * gy, gy * gy, gx * rest, gy * rest)
    return [_floats(cv2.resize(p, cells, interpolation=cv2.INTER_AREA)) for p in products]


def _solve(equations: list[Floats], steady: float) -> tuple[Floats, Floats]:
    xx, xy, yy, bx, by = equations
    xx, yy = xx + steady, yy + steady
    determinant = xx * yy - xy * xy
    dx, dy = (yy * bx - xy * by) / determinant, (xx * by - xy * bx) / determinant
    return np.clip(dx, -STEP, STEP), np.clip(dy, -STEP, STEP)


def _whole_step(board: Floats, golden: Floats, dx: Floats, dy: Floats) -> tuple[Floats, Floats]:
    step = _solve(_equations(board, golden, dx, dy, (1, 1)), 1e-6)
    return dx + step[0], dy + step[1]


def _tile_step(board: Floats, golden: Floats, dx: Floats, dy: Floats) -> tuple[Floats, Floats]:
    cells = (dx.shape[1], dx.shape[0])
    pooled = [_blurred(each, POOL) for each in _equations(board, golden, dx, dy, cells)]
    structure = pooled[0] + pooled[2] + np.float32(1e-9)
    step = _solve(pooled, STEADY * float(structure.mean()))
    weight = _blurred(structure, SMOOTH)
    return (
        _blurred((dx + step[0]) * structure, SMOOTH) / weight,
        _blurred((dy + step[1]) * structure, SMOOTH) / weight,
    )


def _blurred(array: Floats, sigma: float) -> Floats:
    return _floats(cv2.GaussianBlur(array, (0, 0), sigma, borderType=cv2.BORDER_REFLECT))
