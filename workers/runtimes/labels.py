"""What a classifier's graph has around it: a square before, a row for each class after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from backend.errors import Unavailable
from workers.families import letterbox
from workers.families.base import Detections, Picture, Pixels
from workers.runtimes.boxes import Forward


class LabelModel:
    """A classifier as a model of `workers.families.base`."""

    def __init__(self, forward: Forward, classes: tuple[str, ...], size: int) -> None:
        self.classes, self.image_size = classes, size
        self._forward = forward

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """One row a class, the most probable first; each covers the whole picture."""
        return [self._one(picture.pixels) for picture in batch]

    def export(self, runtime: str, folder: Path) -> Path:
        """A prepared model is the end of the road; export the one it was made from."""
        raise Unavailable(f"A prepared model cannot be exported to {runtime} in {folder}.")

    def _one(self, pixels: Pixels) -> Detections:
        target = self._forward.tensor(1, self.image_size, self.image_size)
        target[0] = letterbox.square(pixels, self.image_size)
        chances = self._forward.infer(target)[0]
        height, width = pixels.shape[:2]
        order = np.argsort(-chances, kind="stable")
        return np.array([(0, 0, width, height, chances[i], i) for i in order], np.float32)
