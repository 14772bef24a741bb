"""Draws pictures of people with a mask, without, and with one worn wrong."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.domain import Box, Origin
from backend.sample import portraits
from backend.sample.drawn import Drawn, Pixels, split_of

CLASSES = tuple(portraits.WEAR)
_SHARES = (0.5, 0.28, 0.22)

_SIZES = ((640, 480), (640, 427), (512, 512), (480, 600))


def draw(images: int, seed: int) -> Iterator[Drawn]:
    """Pictures in groups of four, each group from one place."""
    for index in range(images):
        rng = np.random.default_rng((seed, index))
        place = index // 4
        pixels, boxes = _picture(rng, np.random.default_rng((seed, 1_000_000 + place)))
        name, group = f"faces-{index + 1:04d}", f"place-{place + 1:02d}"
        yield Drawn(name, pixels, boxes, split_of(place), group)


def _picture(rng: Generator, place: Generator) -> tuple[Pixels, tuple[Box, ...]]:
    width, height = _SIZES[int(place.integers(len(_SIZES)))]
    pixels = _background(place, rng, height, width)
    boxes = []
    for x, y, size in _spots(rng, width, height):
        face = portraits.Face(pixels, rng, x, y, size)
        label = str(rng.choice(CLASSES, p=_SHARES))
        face.draw(label)
        boxes.append(_box(label, face.corners, width, height))
    return _exposed(rng, pixels), tuple(boxes)


def _spots(rng: Generator, width: int, height: int) -> list[tuple[float, float, float]]:
    """Where faces go, the upper ones first, so that none covers another."""
    wanted = int(rng.choice([1, 2, 3, 4, 6, 9], p=(0.15, 0.2, 0.2, 0.2, 0.15, 0.1)))
    largest = min(0.36 * height, 1.1 * width / (1 + wanted))
    found: list[tuple[float, float, float]] = []
    for _ in range(40):
        size = max(24.0, largest * rng.uniform(0.4, 1))
        x = rng.uniform(0.6 * size, width - 0.6 * size)
        y = rng.uniform(0.75 * size, height - 0.75 * size)
        apart = all(
            abs(x - other[0]) > 0.62 * (size + other[2])
            or abs(y - other[1]) > 0.9 * (size + other[2])
            for other in found
        )
        if apart:
            found.append((x, y, size))
        if len(found) == wanted:
            break
    return sorted(found, key=lambda spot: spot[1])


def _background(place: Generator, rng: Generator, height: int, width: int) -> Pixels:
    """Something out of focus: walls, windows, shelves, trees, lamps."""
    corners = _muted(place.uniform(40, 225, (1, 1, 3)) + place.normal(0, 34, (3, 3, 3)))
    field = np.clip(cv2.resize(corners, (width, height), interpolation=cv2.INTER_CUBIC), 0, 255)
    pixels = field.astype(np.uint8)
    for _ in range(int(place.integers(6, 26))):
        colour = portraits.bgr(_muted(place.normal(128, 62, (1, 3)))[0])
        x, y = (int(v) for v in place.uniform((0, 0), (width, height)))
        w, h = (int(v) for v in place.uniform(12, (0.3 * width, 0.5 * height)))
        if place.random() < 0.55:
            cv2.rectangle(pixels, (x, y), (x + w, y + h), colour, -1)
        else:
            cv2.ellipse(pixels, (x, y), (w // 2, h // 2), 0, 0, 360, colour, -1, cv2.LINE_AA)
    return cv2.GaussianBlur(pixels, (0, 0), float(rng.uniform(2.5, 7))).astype(np.uint8)


def _muted(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rooms and streets are greyer than chance."""
    greys: NDArray[np.float64] = colours.mean(-1, keepdims=True)
    return 0.7 * greys + 0.3 * colours


def _exposed(rng: Generator, pixels: Pixels) -> Pixels:
    """Light from a side, a soft lens and a grainy sensor."""
    height, width = pixels.shape[:2]
    light = cv2.resize(
        150 * rng.uniform(0.75, 1.15) * rng.uniform(0.85, 1.15, (2, 3)),
        (width, height),
        interpolation=cv2.INTER_CUBIC,
    )
    grey = np.clip(light, 0, 255).astype(np.uint8)
    lit = cv2.multiply(pixels, cv2.merge((grey, grey, grey)), scale=1 / 150)
    soft = cv2.GaussianBlur(lit, (3, 3), float(rng.uniform(0.3, 1.1)))
    noise = rng.integers(0, 2 * int(rng.integers(3, 13)), pixels.shape, np.uint8)
    noisy = cv2.subtract(cv2.add(soft, noise), np.full_like(noise, noise.max() // 2))
    return noisy.astype(np.uint8, copy=False)


def _box(label: str, corners: tuple[float, float, float, float], width: int, height: int) -> Box:
    limits = (width, height, width, height)
    x1, y1, x2, y2 = (
        float(min(max(round(v), 0), top)) for v, top in zip(corners, limits, strict=True)
    )
    return Box(x1, y1, x2, y2, label, Origin.HUMAN)
