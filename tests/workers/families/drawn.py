"""Small drawn pictures to learn from: dark squares and bright discs on a grey ground."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from backend.domain import Box, Split
from workers.families.base import Example, TrainingSet

CLASSES = ("square", "disc")


def shapes(folder: Path, images: int = 12, side: int = 96, seed: int = 0) -> TrainingSet:
    """A training set for detectors: three quarters train, one quarter val."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    examples = tuple(
        _example(folder, random, index, side, Split.VAL if index % 4 == 3 else Split.TRAIN)
        for index in range(images)
    )
    return TrainingSet(CLASSES, examples)


def single(folder: Path, images: int = 16, side: int = 64, seed: int = 0) -> TrainingSet:
    """A training set for classifiers: one shape a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    examples = []
    for index in range(images):
        label = CLASSES[index // 2 % 2]
        split = Split.VAL if index % 8 in (3, 5) else Split.TRAIN
        pixels = _ground(random, side)
        _draw(pixels, random, label)
        path = folder / f"{index}.png"
        cv2.imwrite(str(path), pixels)
        examples.append(Example(path, side, side, split, label=label, name=path.name))
    return TrainingSet(CLASSES, tuple(examples))


def _example(
    folder: Path, random: np.random.Generator, index: int, side: int, split: Split
) -> Example:
    pixels = _ground(random, side)
    boxes = tuple(_draw(pixels, random, CLASSES[(index + each) % 2]) for each in range(2))
    path = folder / f"{index}.png"
    cv2.imwrite(str(path), pixels)
    return Example(path, side, side, split, boxes, name=path.name)


def _ground(
    random: np.random.Generator, side: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    noise = random.normal(128, 6, (side, side, 1)).repeat(3, axis=2)
    return noise.clip(0, 255).astype(np.uint8)


def _draw(
    pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], random: np.random.Generator, label: str
) -> Box:
    side = pixels.shape[0]
    size = int(random.integers(side // 5, side // 3))
    x, y = (int(value) for value in random.integers(0, side - size, 2))
    if label == "square":
        pixels[y : y + size, x : x + size] = (30, 30, 60)
    else:
        centre = (x + size // 2, y + size // 2)
        cv2.circle(pixels, centre, size // 2, (240, 240, 200), -1)
    return Box(x, y, x + size, y + size, label)
