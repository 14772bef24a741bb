"""Drawn boards as a camera sees them."""

from __future__ import annotations

import cv2
import numpy as np

from tests.workers.families.golden import boards


def photograph(board: boards.Pixels, seed: int, light: float = 0.0) -> boards.Pixels:
    """Green laminate, lighter copper, soft edges, noise, and light that falls off to one side."""
    shares = cv2.GaussianBlur(board.astype(np.float32) / 255, (0, 0), 1.0)[..., None]
    colour = shares * np.array([20, 90, 15]) + (1 - shares) * np.array([60, 150, 50])
    colour += np.linspace(0, light, board.shape[1])[None, :, None]
    colour += np.random.default_rng(seed).normal(0, 2, colour.shape)
    return np.asarray(colour.clip(0, 255), np.uint8)
