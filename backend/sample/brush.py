"""Filled shapes with smooth edges at fractions of a pixel."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.sample.drawn import Mask

# OpenCV draws at a sixteenth of a pixel when coordinates are given so.
_FINE = 4


def _fixed(value: float) -> int:
    return round(value * (1 << _FINE))


def disc(layer: Mask, x: float, y: float, radius: float) -> None:
    if radius >= 1:
        spot = (_fixed(x), _fixed(y))
        cv2.circle(layer, spot, _fixed(radius), 255, -1, cv2.LINE_AA, _FINE)


def block(layer: Mask, x: float, y: float, half_width: float, half_height: float) -> None:
    low = (round(x - half_width), round(y - half_height))
    cv2.rectangle(layer, low, (round(x + half_width), round(y + half_height)), 255, -1)


def capsule(layer: Mask, x1: float, y1: float, x2: float, y2: float, radius: float) -> None:
    ends = (_fixed(x1), _fixed(y1)), (_fixed(x2), _fixed(y2))
    cv2.line(layer, *ends, 255, max(1, round(2 * radius)), cv2.LINE_AA, _FINE)


def polygon(layer: Mask, corners: list[tuple[float, float]]) -> None:
    fixed = np.array([(_fixed(x), _fixed(y)) for x, y in corners], np.int32)
    cv2.fillPoly(layer, [fixed], 255, cv2.LINE_AA, _FINE)


def cut_corners(
    left: float, top: float, right: float, bottom: float, cuts: NDArray[np.float64]
) -> list[tuple[float, float]]:
    a, b, c, d = (float(cut) for cut in cuts)
    return [
        (left, top + a),
        (left + a, top),
        (right - b, top),
        (right, top + b),
        (right, bottom - c),
        (right - c, bottom),
        (left + d, bottom),
        (left, bottom - d),
    ]
