"""Boards as another lot shows them: copper etched wider or narrower all over, defects and all."""

from __future__ import annotations

import math

import cv2
import numpy as np

from workers.families.base import Pixels
from workers.families.golden import difference

COPIES = 200  # pictures that a training looks at once more, etched
LEAST, MOST = 0.3, 0.9  # pixels by which their copper is wider or narrower
BLUR = 1.2  # pixels


def copies(pictures: int, seed: int, most: int = COPIES) -> dict[int, float]:
    """Which pictures are looked at once more, and by how much wider their copper is then."""
    chance = np.random.default_rng(seed)
    chosen = chance.permutation(pictures)[:most]
    wider = chance.uniform(LEAST, MOST, len(chosen)) * chance.choice((-1, 1), len(chosen))
    return dict(zip(chosen.tolist(), wider.tolist(), strict=True))


def etched(pixels: Pixels, wider: float) -> Pixels:
    """Dark copper that reaches further: the level of a blurred edge so far beside its middle."""
    grey = difference.grey(pixels)
    low, high = difference.levels(grey)
    level = low + (high - low) * (1 + math.erf(wider / BLUR / math.sqrt(2))) / 2
    light = cv2.GaussianBlur(grey, (0, 0), BLUR) > level
    board = np.where(light, round(high), round(low)).astype(np.uint8)
    return board if pixels.ndim == 2 else np.asarray(cv2.merge([board] * 3), np.uint8)
