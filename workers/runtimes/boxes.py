"""What all detection graphs have around them: letterbox before, suppression after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from backend.errors import Unavailable
from workers.families import letterbox, nms
from workers.families.base import NOTHING, Detections, Picture
from workers.families.letterbox import Fit

IOU = 0.7


class Forward(Protocol):
    """A compiled graph: BGR bytes (n, h, w, 3) in, rows (n, k, 6) out, best score first."""

    most: int

    def tensor(self, count: int, height: int, width: int) -> NDArray[np.uint8]:
        """The input of that shape, to be written into; it stays the graph's own."""
        ...

    def infer(self, tensor: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The rows of each picture, in pixels of the input."""
        ...


class BoxModel:
    """A detection graph as a model of `workers.families.base`."""

    def __init__(
        self,
        forward: Forward,
        classes: tuple[str, ...],
        size: int,
        confidence: float,
        fit: Callable[[int, int, int], Fit] = letterbox.fit,
    ) -> None:
        self.classes = classes
        self.size = size
        self.confidence = confidence
        self._forward = forward
        self._fit = fit

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """The detections of each picture; pictures of one shape go through together."""
        fits = [self._fit(p.pixels.shape[1], p.pixels.shape[0], self.size) for p in batch]
        alike: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for i, where in enumerate(fits):
            alike[where.input_height, where.input_width].append(i)
        found: list[Detections] = [NOTHING] * len(batch)
        for (height, width), members in alike.items():
            for start in range(0, len(members), self._forward.most):
                part = members[start : start + self._forward.most]
                tensor = self._forward.tensor(len(part), height, width)
                for row, i in enumerate(part):
                    letterbox.place(batch[i].pixels, fits[i], tensor[row])
                for i, rows in zip(part, self._forward.infer(tensor), strict=True):
                    found[i] = self._boxes(rows, fits[i], batch[i])
        return found

    def export(self, runtime: str, folder: Path) -> Path:
        """A prepared model is the end of the road; export the one it was made from."""
        raise Unavailable(f"A prepared model cannot be exported to {runtime} in {folder}.")

    def _boxes(self, rows: Detections, where: Fit, picture: Picture) -> Detections:
        # Rows are sorted by score, so the sure ones are a prefix.
        sure = rows[: int(np.searchsorted(-rows[:, 4], -self.confidence, "right"))]
        height, width = picture.pixels.shape[:2]
        return letterbox.back(nms.suppress(sure, IOU), where, width, height)
