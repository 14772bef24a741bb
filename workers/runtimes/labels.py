"""What a classifier's graph has around it: a square before, a row for each class after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.errors import Unavailable
from workers.families import letterbox
from workers.families.base import Detections, Picture
from workers.runtimes.boxes import Forward

# A graph for small pictures does so little that calling it counts; larger ones gain nothing.
SMALL, TOGETHER = 64, 16


def together(size: int) -> int:
    """How many pictures of that size a graph is best given at once on a processor."""
    return TOGETHER if size <= SMALL else 1


class LabelModel:
    """A classifier as a model of `workers.families.base`."""

    def __init__(self, forward: Forward, classes: tuple[str, ...], size: int) -> None:
        self.classes, self.image_size = classes, size
        self._forward = forward

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """One row a class, the most probable first; each covers the whole picture."""
        parts = _parts(batch, self._forward.most)
        return [rows for part in parts for rows in _rows(self._chances(part), part)]

    def export(self, runtime: str, folder: Path) -> Path:
        """A prepared model is the end of the road; export the one it was made from."""
        raise Unavailable(f"A prepared model cannot be exported to {runtime} in {folder}.")

    def _chances(self, part: Sequence[Picture]) -> NDArray[np.float32]:
        target = self._forward.tensor(len(part), self.image_size, self.image_size)
        for picture, row in zip(part, target, strict=True):
            height, width = picture.pixels.shape[:2]
            letterbox.place(picture.pixels, letterbox.centred(width, height, self.image_size), row)
        return self._forward.infer(target)


def _parts(batch: Sequence[Picture], most: int) -> Iterator[Sequence[Picture]]:
    """As many as go at once, the rest one by one: each number of pictures is a graph of its own."""
    whole = len(batch) - len(batch) % most
    yield from (batch[start : start + most] for start in range(0, whole, most))
    yield from (batch[start : start + 1] for start in range(whole, len(batch)))


def _rows(chances: NDArray[np.float32], part: Sequence[Picture]) -> Iterator[Detections]:
    order = np.argsort(-chances, axis=1, kind="stable")
    rows = np.zeros((*chances.shape, 6), np.float32)
    rows[:, :, 2:4] = [[one.pixels.shape[1::-1]] for one in part]
    rows[:, :, 4] = np.take_along_axis(chances, order, 1)
    rows[:, :, 5] = order
    yield from rows
