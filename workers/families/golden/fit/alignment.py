"""Piecewise alignment: one motion of the whole, then a smooth field of small shifts.

The blurred pictures are laid on one another by Gauss-Newton steps: at first of one affine motion
for the whole picture, or of a perspective one where that moves a corner by more, then of a shift
for every tile of a grid. The tiles' equations are pooled with their neighbours', so that no defect
pulls its tile, and a tile without structure keeps what its neighbours say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]
Matrix = NDArray[np.float64]
LEVELS = ((160, 3, 6),)  # longer side of the reduced pictures, affine steps, steps of the tiles
FINE, STEPS = 320, 3  # the last level, whose grid the field keeps
CELL = 8  # pixels of the reduced picture
POOL = 2.0  # cells, sigma
SMOOTH = 1.0  # cells, sigma
STEADY = 0.02  # how much a tile resists being moved, relative to the picture's mean structure
DOUBT = 0.4  # of the way from black to white
LONGEST = 2.0  # pixels, a step
BENT, BENDS = 0.5, 3  # pixels of the reduced picture at a corner; steps
_ZERO = np.zeros((1, 1), np.float32)
_RESISTS = np.array([1, 1, 0.001, 1, 1, 0.001, 1, 1])  # the unknowns of a step
_CORNERS = np.array([-1.0, 1, -1, 1]), np.array([-1.0, -1, 1, 1])


@dataclass(frozen=True, slots=True)
class Field:
    """board(x, y) shows what golden(whole · (x, y, 1) + (dx, dy)) does; pixels of full size."""

    whole: Matrix  # (3, 3), a perspective motion
    dx: Floats  # on a coarse grid
    dy: Floats

    def dense(self, width: int, height: int, then: Matrix) -> tuple[Floats, Floats]:
        """For each pixel of the board the place in the golden, moved by another affine motion."""
        linear, size = then[:, :2], (width, height)
        dx = linear[0, 0] * self.dx + linear[0, 1] * self.dy
        dy = linear[1, 0] * self.dx + linear[1, 1] * self.dy
        x, y = places(joined(then, self.whole), width, height)
        x += cv2.resize(dx.astype(np.float32), size)
        y += cv2.resize(dy.astype(np.float32), size)
        return x, y

    def at(self, here: NDArray[np.generic], shape: tuple[int, ...]) -> Floats:
        """(n, 2): the shifts at some places of a board of that size."""
        rows, columns = self.dx.shape
        share = (here.astype(np.float64) + 0.5) / np.array(shape[::-1])
        x, y = (share * np.array([columns, rows]) - 0.5).astype(np.float32).T
        edge = cv2.BORDER_REPLICATE
        told = [cv2.remap(each, x, y, 1, borderMode=edge) for each in (self.dx, self.dy)]
        return _floats(np.hstack(told))


def joined(after: Matrix, before: Matrix) -> Matrix:
    """An affine motion after a perspective one."""
    return np.asarray(np.vstack([after, [0, 0, 1]]) @ before)


def moved(matrix: Matrix, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2): where a perspective motion takes some points."""
    there = points @ matrix[:, :2].T + matrix[:, 2]
    return np.asarray(there[:, :2] / there[:, 2:])


def places(matrix: Matrix, width: int, height: int) -> tuple[Floats, Floats]:
    """Where a perspective motion takes each pixel."""
    across, down = _axes(width, height)
    (a, b, c), (d, e, f), (g, h, i) = matrix.astype(np.float32)
    x, y = (a * across + c) + b * down, d * across + (e * down + f)
    if g or h:
        behind = (g * across + i) + h * down
        x, y = x / behind, y / behind
    return x, y


@lru_cache(maxsize=8)
def _axes(width: int, height: int) -> tuple[Floats, Floats]:
    return np.arange(width, dtype=np.float32)[None], np.arange(height, dtype=np.float32)[:, None]


def whole(motion: Matrix) -> Field:
    """One motion of the whole, and no shifts."""
    return Field(motion, _ZERO, _ZERO)


def align(board: Pixels, golden: Pixels, fine: int = FINE, *, moved: bool = True) -> Field:
    """The field that lays the golden on the board; both grey, of one size, nearly in place.

    What is not moved as a whole lies right already, but for small shifts.
    """
    field, before = whole(np.eye(3)), 1.0
    for side, affine_steps, tile_steps in (*LEVELS, (fine, 0, STEPS)):
        ours, theirs, scale = *_both(board, golden, side), side / max(board.shape)
        field = resized(field, scale / before, _cells(ours))
        if affine_steps and moved:
            field = Field(_whole(ours, theirs, field.whole, affine_steps), field.dx, field.dy)
        for _ in range(tile_steps):
            field = Field(field.whole, *_tile_step(ours, theirs, field))
        before = scale
    return resized(field, 1 / before, (field.dx.shape[1], field.dx.shape[0]))


def resized(field: Field, factor: float, cells: tuple[int, ...]) -> Field:
    """The same motion in pixels of another size, on another grid."""
    whole = field.whole * np.array([[1, 1, factor], [1, 1, factor], [1 / factor, 1 / factor, 1]])
    dx, dy = (
        _floats(cv2.resize(each, cells) * np.float32(factor)) for each in (field.dx, field.dy)
    )
    return Field(whole, dx, dy)


def _both(board: Pixels, golden: Pixels, side: int) -> tuple[Floats, Floats]:
    scale = side / max(board.shape)
    size = tuple(max(8, round(length * scale)) for length in board.shape[::-1])
    return _reduced(board, size), _reduced(golden, size)


def _reduced(picture: Pixels, size: tuple[int, ...]) -> Floats:
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return _floats(cv2.GaussianBlur(small * np.float32(1 / 255), (0, 0), 1.2))


def _cells(picture: Floats) -> tuple[int, int]:
    return max(1, round(picture.shape[1] / CELL)), max(1, round(picture.shape[0] / CELL))


def _equations(
    board: Floats, golden: Floats, x: Floats, y: Floats, doubt: float = 0.0
) -> list[Floats]:
    """For each cell the means of gxx, gxy, gyy, gx·d, gy·d, where d is what is still between.

    With a doubt, a pixel counts less the further d goes beyond it: there may be a defect.
    """
    moved = cv2.remap(golden, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    gx = cv2.Sobel(moved, cv2.CV_32F, 1, 0, scale=0.125)
    gy = cv2.Sobel(moved, cv2.CV_32F, 0, 1, scale=0.125)
    rest, wx, wy = board - moved, gx, gy
    if doubt:
        square = cv2.multiply(rest, rest, scale=doubt**-2)
        weight = cv2.divide(1.0, cv2.add(cv2.multiply(square, square), 1.0))  # type: ignore[call-overload]
        wx, wy = cv2.multiply(gx, weight), cv2.multiply(gy, weight)
    pairs = ((wx, gx), (wx, gy), (wy, gy), (wx, rest), (wy, rest))
    cells = _cells(board)
    return [
        _floats(cv2.resize(cv2.multiply(*pair), cells, interpolation=cv2.INTER_AREA))
        for pair in pairs
    ]


def _whole(board: Floats, golden: Floats, whole: Matrix, steps: int) -> Matrix:
    """An affine motion; a perspective one where that takes a corner elsewhere."""
    for _ in range(steps):
        whole, _ = _step(board, golden, whole, bend=False)
    bent, by = _step(board, golden, whole, bend=True)
    if by < BENT:
        return whole
    for _ in range(BENDS):
        bent, _ = _step(board, golden, bent, bend=True)
    return bent


def _step(board: Floats, golden: Floats, whole: Matrix, *, bend: bool) -> tuple[Matrix, float]:
    """One step of an affine or a perspective motion, and by how much it bends a corner."""
    height, width = board.shape
    equations = _equations(board, golden, *places(whole, width, height))
    xx, xy, yy, bx, by = (each.ravel().astype(np.float64) for each in equations)
    wide, high = _cells(board)
    across, down = np.meshgrid(np.arange(1 - wide, wide, 2), np.arange(1 - high, high, 2))
    x, y = bases(across.ravel() / wide, down.ravel() / high, bend=bend)
    square = x.T @ (xx[:, None] * x + xy[:, None] * y) + y.T @ (xy[:, None] * x + yy[:, None] * y)
    steady = (0.02 * np.trace(square[:6, :6]) / 6 + 1e-9) * _RESISTS[: len(square)]
    found = np.linalg.solve(square + np.diag(steady), x.T @ bx + y.T @ by)
    found = found.clip(-LONGEST, LONGEST)
    step = np.column_stack([each @ found for each in bases(*_CORNERS, bend=bend)])
    corners = (np.column_stack(_CORNERS) + 1) / 2 * np.array([width, height]) - 0.5
    there = moved(whole, corners) + step
    motion = cv2.getPerspectiveTransform(corners.astype(np.float32), there.astype(np.float32))
    return np.asarray(motion, np.float64), float(np.abs(found[6:]).sum())


def bases(
    across: NDArray[np.float64], down: NDArray[np.float64], *, bend: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each unknown of a step moves to the right and down; places run from -1 to 1."""
    none, one = np.zeros_like(across), np.ones_like(across)
    x, y = [across, down, one, none, none, none], [none, none, none, across, down, one]
    if bend:
        x += [across * across, across * down]
        y += [across * down, down * down]
    return np.column_stack(x), np.column_stack(y)


def _tile_step(board: Floats, golden: Floats, field: Field) -> tuple[Floats, Floats]:
    height, width = board.shape
    x, y = field.dense(width, height, np.eye(2, 3))
    pooled = [_blurred(each, POOL) for each in _equations(board, golden, x, y, DOUBT)]
    xx, xy, yy, bx, by = pooled
    structure = xx + yy + np.float32(1e-9)
    steady = STEADY * structure.mean()
    xx, yy = xx + steady, yy + steady
    determinant = xx * yy - xy * xy
    step_x = ((yy * bx - xy * by) / determinant).clip(-LONGEST, LONGEST)
    step_y = ((xx * by - xy * bx) / determinant).clip(-LONGEST, LONGEST)
    weight = _blurred(structure, SMOOTH)
    return (
        _blurred((field.dx + step_x) * structure, SMOOTH) / weight,
        _blurred((field.dy + step_y) * structure, SMOOTH) / weight,
    )


def _blurred(array: Floats, sigma: float) -> Floats:
    return _floats(cv2.GaussianBlur(array, (0, 0), sigma, borderType=cv2.BORDER_REFLECT))


def _floats(array: cv2.typing.MatLike) -> Floats:
    return np.asarray(array, np.float32)
