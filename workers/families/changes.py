"""How a training picture is changed each time it is seen, so that a classifier sees what matters.

Each is a parameter of the training (`extra`), with a default that suits most pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.base import Pixels


@dataclass(frozen=True, slots=True)
class Changes:
    """`mirror`, `upside_down` and `erase` are how often; `shift` and `light` are shares, `turn`
    is in degrees: how far at most."""

    shift: float = 0.125
    mirror: float = 0.5
    upside_down: float = 0.0
    turn: float = 0.0
    light: float = 0.1
    erase: float = 0.0

    def __call__(self, pixels: Pixels, random: np.random.Generator) -> Pixels:
        """The picture as it is seen this time, of the same size."""
        found = _mirrored(pixels, random.random() < self.mirror, random.random() < self.upside_down)
        found = self._moved(found, random)
        if self.light:
            found = _lit(found, *random.uniform(-self.light, self.light, 2))
        if random.random() < self.erase:
            found = _erased(found, random)
        return found

    def _moved(self, pixels: Pixels, random: np.random.Generator) -> Pixels:
        """Shifted by whole pixels and turned; what comes in mirrors the edge."""
        height, width = pixels.shape[:2]
        across, down = (int(random.integers(-far, far + 1)) for far in self._far(width, height))
        if not self.turn:
            return _shifted(pixels, across, down)
        degrees = float(random.uniform(-self.turn, self.turn))
        motion = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
        motion[:, 2] += (across, down)
        edge = cv2.BORDER_REFLECT_101
        turned = cv2.warpAffine(pixels, motion, (width, height), borderMode=edge)
        return np.asarray(turned, np.uint8)

    def _far(self, width: int, height: int) -> tuple[int, int]:
        return round(width * self.shift), round(height * self.shift)


def chosen(extra: Mapping[str, Any]) -> Changes:
    """The changes that a training asks for."""
    names = {each.name for each in fields(Changes)}
    return Changes(**{name: float(value) for name, value in extra.items() if name in names})


def _mirrored(pixels: Pixels, across: bool, down: bool) -> Pixels:
    found = pixels[:, ::-1] if across else pixels
    return found[::-1] if down else found


def _shifted(pixels: Pixels, across: int, down: int) -> Pixels:
    height, width = pixels.shape[:2]
    return pixels[_mirrored_from(height, down)[:, None], _mirrored_from(width, across)]


def _mirrored_from(size: int, shift: int) -> NDArray[np.int64]:
    """Which row (or column) each one shows; before the first and behind the last they turn back."""
    places = np.abs(np.arange(size) - shift)
    return np.where(places >= size, 2 * (size - 1) - places, places).clip(0, size - 1)


def _lit(pixels: Pixels, contrast: float, bright: float) -> Pixels:
    values = np.arange(256, dtype=np.float64)
    table = (values * (1 + contrast) + 255 * bright / 2).clip(0, 255).astype(np.uint8)
    return table[pixels]


def _erased(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """A square of a quarter to a half of the side becomes grey."""
    height, width = pixels.shape[:2]
    side = int(min(height, width) * random.uniform(0.25, 0.5))
    top, left = (int(random.integers(0, room - side + 1)) for room in (height, width))
    found = pixels.copy()
    found[top : top + side, left : left + side] = 114
    return found
