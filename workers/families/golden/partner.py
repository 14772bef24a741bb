"""A trained detector that a golden model asks as well; its weights travel in the model's file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.errors import Refused
from workers.families import base
from workers.families.base import Detections, LoadedModel, Picture, Pixels
from workers.families.golden import evidence


@dataclass(frozen=True)
class Partner:
    """The detector, by the name that it has in its project."""

    name: str
    family: str
    weights: bytes
    model: LoadedModel

    def found(self, pixels: Pixels, classes: tuple[str, ...], name: str = "") -> Detections:
        """What it sees in a picture, by our class indices."""
        answer = self.model.predict([Picture(pixels, None, name)])[0]
        if isinstance(answer, Refused):
            raise answer
        return evidence.renamed(answer, self.model.classes, classes)

    def found_turned(self, pixels: Pixels, classes: tuple[str, ...], name: str = "") -> Detections:
        """What it sees in the picture on its side.

        Pictures that it learned from it knows by heart, and would look surer than it is; turned
        ones it has never seen.
        """
        turned = np.ascontiguousarray(np.rot90(pixels))
        return upright(self.found(turned, classes, name), pixels.shape[1])


def upright(found: Detections, width: int) -> Detections:
    """Boxes of a picture that was turned to the left, in the picture as it was."""
    x1, y1, x2, y2, score, kind = found.T
    return np.column_stack([width - y2, x1, width - y1, x2, score, kind]).astype(np.float32)


def read(name: str, family: str, weights: Path, device: str) -> Partner:
    """The partner from a file of its own."""
    model = base.implementation(family).load(weights, device)
    return Partner(name, family, weights.read_bytes(), model)


def loaded(name: str, family: str, weights: bytes, device: str) -> Partner:
    """The partner from bytes that a golden model has carried."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "detector"
        file.write_bytes(weights)
        return read(name, family, file, device)
