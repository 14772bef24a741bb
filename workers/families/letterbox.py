"""Fits a picture into a model's input without distorting it, and takes boxes back out of it.

Training, evaluation and runs ask here alone: what a model is measured by is what it then does.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.base import Detections, Pixels

GREY = 114
STRIDE = 32


@dataclass(frozen=True, slots=True)
class Fit:
    """Where a picture lies in the input: its size there, the margins before it, the whole."""

    width: int
    height: int
    left: int
    top: int
    input_width: int
    input_height: int


def fit(width: int, height: int, size: int) -> Fit:
    """The longer side becomes `size`, exactly as the training does it; each side of the input is
    the next multiple of 32."""
    inner = _scaled(width, height, size)
    outer = tuple(-(-side // STRIDE) * STRIDE for side in inner)
    left, top = (outer[0] - inner[0]) // 2, (outer[1] - inner[1]) // 2
    return Fit(inner[0], inner[1], left, top, outer[0], outer[1])


def corner(width: int, height: int, size: int) -> Fit:
    """The same for networks that were taught with margins on the right and below only."""
    ratio = size / max(width, height)
    inner = [max(int(side * ratio + 1e-6), 1) for side in (width, height)]
    outer = [-(-side // STRIDE) * STRIDE for side in inner]
    return Fit(inner[0], inner[1], 0, 0, outer[0], outer[1])


def place(pixels: Pixels, where: Fit, target: NDArray[np.uint8]) -> None:
    """Write the picture, resized, into the input (h, w, 3), blue first; margins are grey."""
    bottom, right = where.top + where.height, where.left + where.width
    inner = target[where.top : bottom, where.left : right]
    if (where.height, where.width) != target.shape[:2]:
        target[: where.top] = target[bottom:] = GREY
        target[:, : where.left] = target[:, right:] = GREY
    image = colour(pixels)
    if image.shape[:2] == inner.shape[:2]:
        inner[:] = image
        return
    cv2.resize(image, (where.width, where.height), dst=inner, interpolation=cv2.INTER_LINEAR)


def placed(pixels: Pixels, where: Fit) -> Pixels:
    """An input of its own for one picture."""
    target = np.empty((where.input_height, where.input_width, 3), np.uint8)
    place(pixels, where, target)
    return target


def back(boxes: Detections, where: Fit, width: int, height: int) -> Detections:
    """Boxes of the input as boxes of the picture, clipped to it."""
    across, down = width / where.width, height / where.height
    moved = boxes.copy()
    moved[:, 0:4:2] = ((boxes[:, 0:4:2] - where.left) * across).clip(0, width)
    moved[:, 1:4:2] = ((boxes[:, 1:4:2] - where.top) * down).clip(0, height)
    return moved


def square(pixels: Pixels, size: int) -> Pixels:
    """A picture scaled to fit a grey square, its proportions kept."""
    return placed(pixels, centred(pixels.shape[1], pixels.shape[0], size))


@functools.lru_cache(256)
def centred(width: int, height: int, size: int) -> Fit:
    """In the middle of a square, as large as fits into it."""
    wide, high = _scaled(width, height, size)
    return Fit(wide, high, (size - wide) // 2, (size - high) // 2, size, size)


def colour(pixels: Pixels) -> Pixels:
    """Three channels, blue first, whatever the picture has."""
    if pixels.ndim == 2:
        return _pixels(cv2.cvtColor(pixels, cv2.COLOR_GRAY2BGR))
    return pixels[:, :, :3]


def _scaled(width: int, height: int, size: int) -> tuple[int, int]:
    ratio = size / max(width, height)
    wide, high = (max(1, min(math.ceil(side * ratio), size)) for side in (width, height))
    return wide, high


def _pixels(image: Any) -> Pixels:
    """OpenCV's stubs leave the type of what it returns open."""
    return cast("Pixels", image)
