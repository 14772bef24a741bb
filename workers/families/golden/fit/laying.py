"""How a golden lies on a picture, what it shows there, and how far the two agree."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden.fit import alignment
from workers.families.golden.fit.alignment import Field

Pixels = NDArray[np.uint8]
Mask = NDArray[np.uint8]
Matrix = NDArray[np.float64]
APART = 64  # grey levels
GRANTED = 20.0  # grey levels, standard deviation
STILL = 0.35  # pixels
FINE = 160  # pixels, the longer side of the pictures whose agreement is measured
PLACED, RIGHT, KNOWN = 0.5, 0.9, 8  # shares of the marks that lie right; marks
SLIVER = 0.05  # share of a picture; a golden that shows less of it says nothing


@dataclass(frozen=True, slots=True)
class Registration:
    """`transform` takes a point of the picture to the golden, after `field` has refined it."""

    transform: Matrix  # (2, 3)
    field: Field
    confidence: float
    residual: float
    size: tuple[int, int] = (0, 0)  # of the golden
    marked: int = 0  # how many marks were looked for at full size
    right: int = 0  # and how many lie right

    @property
    def placed(self) -> bool:
        """Whether most marks lie right, as far as there are enough to say so."""
        return self.marked < KNOWN or self.right >= PLACED * self.marked

    @property
    def known(self) -> bool:
        """Whether there are enough marks and nearly all lie right."""
        return self.marked >= KNOWN and self.right >= RIGHT * self.marked

    def whole(self, width: int, height: int) -> Matrix:
        """The affine motion nearest to it all, to a golden stretched to the picture's size."""
        rows, columns = (max(2, length) for length in self.field.dx.shape)
        down, across = np.mgrid[:rows, :columns].reshape(2, -1) + 0.5
        points = np.column_stack([across * width / columns, down * height / rows])
        here = np.column_stack([points, np.ones(len(points))])
        there = alignment.moved(alignment.joined(self.transform, self.field.whole), points)
        there += self.field.at(points - 0.5, (height, width)) @ self.transform[:, :2].T
        found = np.linalg.lstsq(here, there, rcond=None)[0].T
        return np.asarray(found * (np.array([width, height]) / self.size)[:, None])

    def lay(self, golden: Pixels, board: Pixels) -> Pixels:
        """The golden in the board's frame; the board itself where the golden shows nothing."""
        return lay(golden, board, self.transform, self.field)[0]

    def laid(self, golden: Pixels, board: Pixels) -> tuple[Pixels, Mask | None]:
        """The same, and 1 where the golden shows something, if that is not everywhere."""
        return lay(golden, board, self.transform, self.field)


def lay(
    golden: Pixels, board: Pixels, transform: Matrix, field: Field
) -> tuple[Pixels, Mask | None]:
    """The golden in the board's frame, and where it shows something; elsewhere the board itself."""
    height, width = board.shape[:2]
    if golden.shape == board.shape and _still(transform, field, width, height):
        return golden, None
    x, y = field.dense(width, height, transform)
    laid = cv2.remap(golden, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    there = cv2.remap(np.ones(golden.shape[:2], np.uint8), x, y, cv2.INTER_NEAREST)
    shown = np.asarray(cv2.erode(there, np.ones((5, 5), np.uint8)), np.uint8)
    beyond = shown == 0
    if not beyond.any():
        return np.asarray(laid, np.uint8), None
    laid[beyond] = board[beyond]
    return np.asarray(laid, np.uint8), shown


def _still(transform: Matrix, field: Field, width: int, height: int) -> bool:
    """Whether nothing moves by as much as could be seen."""
    whole = alignment.joined(transform, field.whole)
    corners = np.array([[0.0, 0], [width, 0], [0, height], [width, height]])
    moved = np.abs(alignment.moved(whole, corners) - corners).max()
    return bool(moved + max(np.abs(field.dx).max(), np.abs(field.dy).max()) < STILL)


def agreement(
    board: Pixels, golden: Pixels, transform: Matrix, field: Field
) -> tuple[float, float]:
    """The correlation of two pictures laid on one another, and the share that differs.

    Of what both show; some variance is taken for granted, so that two nearly blank pictures agree.
    """
    scale = min(FINE / max(board.shape), 1.0)
    shifts = alignment.resized(field, scale, field.dx.shape[::-1])
    ours, theirs = (smaller(each, scale) for each in (board, golden))
    laid, shown = lay(theirs, ours, larger(transform, scale), shifts)
    here, there = ours.astype(np.float32), laid.astype(np.float32)
    if shown is not None:
        if float(shown.mean()) < SLIVER:
            return 0.0, 1.0
        here, there = here[shown > 0], there[shown > 0]
    apart = float((np.abs(here - there) > APART).mean())
    here, there = here - here.mean(), there - there.mean()
    granted = np.float32(here.size * GRANTED**2)
    power = np.sqrt(((here * here).sum() + granted) * ((there * there).sum() + granted))
    return float(((here * there).sum() + granted) / power), apart


def smaller(picture: Pixels, scale: float) -> Pixels:
    """A picture made smaller by a factor."""
    if scale >= 1:
        return picture
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def larger(matrix: Matrix, ours: float, theirs: float | None = None) -> Matrix:
    """The same affine motion between two pictures that are larger by a factor, or one each.

    Pixels are counted from their middles, so a turn moves the middle of the first one.
    """
    theirs = ours if theirs is None else theirs
    linear = matrix[:, :2] * (theirs / ours)
    start = (matrix[:, 2] + 0.5) * theirs - 0.5 - matrix[:, :2] @ np.full(2, 0.5 * theirs)
    return np.column_stack([linear, start + linear @ np.full(2, 0.5)])
