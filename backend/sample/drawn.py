"""What the sample drawings come as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.domain import Box, Split

Pixels = NDArray[np.uint8]
Mask = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A drawn picture, BGR or grey; `golden` names the drawing that is its clean reference."""

    name: str
    pixels: Pixels
    boxes: tuple[Box, ...] = ()
    split: Split = Split.TRAIN
    group: str = ""
    golden: str = ""
    is_golden: bool = False
    label: str = ""


def split_of(group: int) -> Split:
    """Whole groups go to one split, so that a product of the test split is new to the model."""
    return (Split.TRAIN, Split.TRAIN, Split.VAL, Split.TRAIN, Split.TEST)[group % 5]
