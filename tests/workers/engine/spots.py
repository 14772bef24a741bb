"""Pictures with bright spots, and models that find them or fail on purpose, for pool tests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from backend.errors import Invalid
from workers.engine.work import Setup
from workers.families.base import NOTHING, Detections, Picture


class Spots:
    """Finds bright spots; a picture whose name says so ends the process or takes long."""

    classes = ("spot",)

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """One box a spot."""
        return [self._one(picture) for picture in batch]

    def export(self, runtime: str, folder: Path) -> Path:
        """Not needed here."""
        raise NotImplementedError(runtime, folder)

    def _one(self, picture: Picture) -> Detections:
        if "killer" in picture.name:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self._seconds)
        grey = cv2.cvtColor(picture.pixels, cv2.COLOR_BGR2GRAY)
        count, _, stats, _ = cv2.connectedComponentsWithStats((grey > 200).astype(np.uint8))
        rows = [(x, y, x + w, y + h, 0.9, 0) for x, y, w, h, _ in stats[1:count]]
        return np.array(rows, np.float32) if rows else NOTHING


def load(seconds: float = 0.0) -> Spots:
    """The model."""
    return Spots(seconds)


def refuse() -> Spots:
    """A model whose weights are unusable."""
    raise Invalid("The weights are for another model.")


def setup(seconds: float = 0.0) -> Setup:
    """What a pool is given."""
    return Setup("tests.workers.engine.spots:load", (seconds,))


def draw(folder: Path, count: int, name: str = "spots") -> list[str]:
    """Pictures of which the i-th has i % 3 spots."""
    paths = []
    for i in range(count):
        pixels = np.zeros((48, 64, 3), np.uint8)
        for spot in range(i % 3):
            pixels[10:20, 5 + 20 * spot : 15 + 20 * spot] = 255
        path = folder / f"{name}{i}.png"
        cv2.imwrite(str(path), pixels)
        paths.append(str(path))
    return paths
