"""Fits a picture into a model's input without distorting it, and takes boxes back out of it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.models.base import Detections, Pixels

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
    """The longer side becomes `size`; each side of the input is the next multiple of 32."""
    scale = size / max(width, height)
    inner = max(round(width * scale), 1), max(round(height * scale), 1)
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
    """Write the picture, resized, into the input tensor (h, w, 3); margins are grey."""
    if pixels.ndim == 2:
        pixels = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_GRAY2BGR), np.uint8)
    bottom, right = where.top + where.height, where.left + where.width
    inner = target[where.top : bottom, where.left : right]
    if (where.height, where.width) != target.shape[:2]:
        target[: where.top] = target[bottom:] = GREY
        target[:, : where.left] = target[:, right:] = GREY
    if pixels.shape[:2] == inner.shape[:2]:
        inner[:] = pixels
        return
    shrinks = pixels.shape[0] > 2 * where.height
    way = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    cv2.resize(pixels, (where.width, where.height), dst=inner, interpolation=way)


def back(boxes: Detections, where: Fit, width: int, height: int) -> Detections:
    """Boxes of the input as boxes of the picture, clipped to it."""
    across, down = width / where.width, height / where.height
    moved = boxes.copy()
    moved[:, 0:4:2] = ((boxes[:, 0:4:2] - where.left) * across).clip(0, width)
    moved[:, 1:4:2] = ((boxes[:, 1:4:2] - where.top) * down).clip(0, height)
    return moved
