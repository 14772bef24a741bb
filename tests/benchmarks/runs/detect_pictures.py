"""Pictures for the detection benchmarks, made once from the shared photos."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import cv2
import numpy as np

from tests import real_data
from workers.families.base import Pixels

# As in VOC2007: mostly 500×375, some upright, some flatter.
SHAPES = ((500, 375),) * 7 + ((375, 500),) * 2 + ((500, 333),)


def voc(count: int) -> Path:
    """A folder of VOC-sized JPEGs: crops and flips of the shared photos, mean about 63 kB."""
    return _made(f"voc-{count}", count, SHAPES, 88)


def large(count: int, width: int, height: int) -> Path:
    """A folder of large JPEGs, as cameras over a board make them."""
    return _made(f"large-{width}-{count}", count, ((width, height),), 90)


def _made(name: str, count: int, shapes: tuple[tuple[int, int], ...], quality: int) -> Path:
    folder = Path(tempfile.gettempdir()) / "loupe-benchmarks" / name
    done = folder / "complete"
    if done.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    photos = sorted(real_data.unpacked("photos").rglob("*.jpg"))
    chance = random.Random(0)
    for i in range(count):
        photo = np.asarray(cv2.imread(str(photos[i % len(photos)])), np.uint8)
        picture = _crop(photo, chance.choice(shapes), chance)
        cv2.imwrite(str(folder / f"{i:05}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    done.touch()
    return folder


def _crop(photo: Pixels, shape: tuple[int, int], chance: random.Random) -> Pixels:
    """A part of that shape, three quarters of the photo or more, perhaps flipped."""
    height, width = photo.shape[:2]
    share = chance.uniform(0.75, 1.0)
    scale = min(width * share / shape[0], height * share / shape[1])
    wide, high = int(shape[0] * scale), int(shape[1] * scale)
    left, top = chance.randint(0, width - wide), chance.randint(0, height - high)
    part = photo[top : top + high, left : left + wide]
    if chance.random() < 0.5:
        part = part[:, ::-1]
    return np.asarray(cv2.resize(part, shape, interpolation=cv2.INTER_AREA), np.uint8)
