"""The kind of a defect by topology, and how sure one may be of it, without any label."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.models.golden.difference import ADDED, Difference, Mask

Floats = NDArray[np.float32]
KINDS = ("open", "short", "mousebite", "spur", "copper", "pin-hole")
OPEN, SHORT, MOUSEBITE, SPUR, COPPER, PINHOLE = range(6)
PIECE = 30  # pixels; what is left of a cut track must be this large to count
TOUCH = 4  # pixels that make a touch
REACH_ADDED, REACH_REMOVED = 3, 2  # pixels; across the blur of an edge
MARGIN = 8  # pixels of surroundings looked at
MIDDLE, STEEPNESS = 1.06, 6.0


def kind(difference: Difference, corners: tuple[int, int, int, int], polarity: int) -> int:
    """The kind of one difference, an index into KINDS."""
    window = around(difference.board.shape, corners, MARGIN)
    board, golden = difference.board[window], difference.golden[window]
    return _added(board, golden) if polarity == ADDED else _removed(board, golden)


def around(
    shape: tuple[int, ...], corners: tuple[int, int, int, int], margin: int
) -> tuple[slice, slice]:
    """The window of a picture around a box."""
    x1, y1, x2, y2 = corners
    return (
        slice(max(0, y1 - margin), min(shape[0], y2 + margin)),
        slice(max(0, x1 - margin), min(shape[1], x2 + margin)),
    )


def _added(board: Mask, golden: Mask) -> int:
    touched = int((pieces_touched(board & ~golden, golden) >= TOUCH).sum())
    return (COPPER, SPUR, SHORT)[min(touched, 2)]


def pieces_touched(change: Mask, golden: Mask) -> NDArray[np.int64]:
    """How many pixels of each piece of the golden lie beside the change."""
    count, pieces = cv2.connectedComponents(golden, connectivity=4)
    beside = _reached(change, REACH_ADDED) & golden
    return np.bincount(pieces[beside > 0], minlength=count)[1:]


def _removed(board: Mask, golden: Mask) -> int:
    if not (_reached(golden & ~board, REACH_REMOVED) & (1 - golden)).any():
        return PINHOLE
    return OPEN if _pieces(board & golden) > _pieces(golden) else MOUSEBITE


def _reached(change: Mask, radius: int) -> Mask:
    solid = cv2.morphologyEx(change, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    return np.asarray(cv2.dilate(solid, _disc(radius)), np.uint8)


def _disc(radius: int) -> Mask:
    size = 2 * radius + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)), np.uint8)


def _pieces(copper: Mask) -> int:
    stats = cv2.connectedComponentsWithStats(copper, connectivity=4)[2]
    return int((stats[1:, cv2.CC_STAT_AREA] >= PIECE).sum())


def score(thickness: Floats, unexplained: Floats) -> Floats:
    """How likely each difference is a defect: thick, and not undone by any small shift.

    The curve's middle and steepness are the fit of one logistic over DeepPCB's trainval pictures.
    """
    ratio = (np.maximum(thickness * unexplained, 1e-3) / MIDDLE) ** STEEPNESS
    return np.asarray(ratio / (1 + ratio), np.float32)
