"""A picture as a detector sees it: long side scaled to a size, padded to multiples of 32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import cv2
import numpy as np

from workers.models.base import Detections, Pixels

GREY = 114
STRIDE = 32


@dataclass(frozen=True, slots=True)
class Fitted:
    """The padded picture (BGR), and what leads back to the original: scales and corner."""

    pixels: Pixels
    scale: tuple[float, float]
    corner: tuple[int, int]
    original: tuple[int, int]

    def back(self, found: Detections) -> Detections:
        """Boxes of the padded picture, in pixels of the original and inside it."""
        result = found.copy()
        for axis in (0, 1):
            result[:, axis:4:2] = (found[:, axis:4:2] - self.corner[axis]) / self.scale[axis]
            np.clip(result[:, axis:4:2], 0, self.original[axis], out=result[:, axis:4:2])
        return result


def colour(pixels: Pixels) -> Pixels:
    """Three channels, blue first, whatever the picture has."""
    if pixels.ndim == 2:
        return np.repeat(pixels[:, :, None], 3, axis=2)
    return pixels[:, :, :3]


def scale(pixels: Pixels, size: int) -> Pixels:
    """In colour, the long side scaled to a size."""
    height, width = pixels.shape[:2]
    ratio = size / max(height, width)
    wide, high = (max(1, min(int(np.ceil(side * ratio)), size)) for side in (width, height))
    image = colour(pixels)
    if ratio == 1:
        return image
    return _pixels(cv2.resize(image, (wide, high), interpolation=cv2.INTER_LINEAR))


def fit(pixels: Pixels, size: int) -> Fitted:
    """Resize and pad, exactly as the training does."""
    height, width = pixels.shape[:2]
    image = scale(pixels, size)
    high, wide = image.shape[:2]
    right, below = -wide % STRIDE, -high % STRIDE
    left, top = right // 2, below // 2
    padded = pad(image, top, below - top, left, right - left)
    return Fitted(padded, (wide / width, high / height), (left, top), (width, height))


def square(pixels: Pixels, size: int) -> Pixels:
    """A picture scaled to fit a grey square, its proportions kept."""
    fitted = scale(pixels, size)
    below, right = size - fitted.shape[0], size - fitted.shape[1]
    return pad(fitted, below // 2, below - below // 2, right // 2, right - right // 2)


def pad(image: Pixels, top: int, below: int, left: int, right: int) -> Pixels:
    """A grey border."""
    grey = (GREY,) * 3
    return _pixels(
        cv2.copyMakeBorder(image, top, below, left, right, cv2.BORDER_CONSTANT, value=grey)
    )


def _pixels(image: Any) -> Pixels:
    """OpenCV's stubs leave the type of what it returns open."""
    return cast("Pixels", image)
