"""A box cut out of its picture: a square with a margin around it, moved to lie inside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.domain import Box

Window = tuple[int, int, int, int]
MOST_MARGIN = 4.0


def window(box: Box, width: int, height: int, margin: float) -> Window:
    """The corners of the square around a box, in whole pixels of a picture of that size.

    `margin` is what is added on each side, as a share of the box's longer side. Where the picture
    is smaller than the square, the square ends with it.
    """
    side = max(box.x2 - box.x1, box.y2 - box.y1) * (1 + 2 * margin)
    across = _span((box.x1 + box.x2) / 2, side, width)
    down = _span((box.y1 + box.y2) / 2, side, height)
    return across[0], down[0], across[1], down[1]


def cut(pixels: NDArray[Any], where: Window) -> NDArray[Any]:
    """The pixels of a window."""
    x1, y1, x2, y2 = where
    return np.ascontiguousarray(pixels[y1:y2, x1:x2])


def _span(middle: float, side: float, size: int) -> tuple[int, int]:
    length = max(1, min(round(side), size))
    begin = min(max(round(middle - length / 2), 0), size - length)
    return begin, begin + length
