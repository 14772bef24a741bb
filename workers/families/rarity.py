"""Rare classes: seen more often, or counted more, so that a classifier does not pass them over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


class Rarity:
    """How often each class is seen and how much it counts.

    `balance` and `class_weights` of a training go from 0 (as the pictures are) to 1 (all classes
    alike).
    """

    def __init__(self, truths: NDArray[np.int64], classes: int, extra: Mapping[str, Any]) -> None:
        counts = np.bincount(truths, minlength=classes).astype(np.float64)
        rare = 1 / counts.clip(1)
        self.balance, self.power = (
            float(extra.get(one, 0)) for one in ("balance", "class_weights")
        )
        self._sums = np.zeros(0)
        if self.balance:
            self._sums = np.cumsum((rare**self.balance)[truths])
        self.weights: torch.Tensor | None = None
        if self.power:
            weights = rare**self.power
            scaled = weights * (counts.sum() / (weights * counts).sum())
            self.weights = torch.from_numpy(scaled).float()

    def drawn(self, index: int, random: np.random.Generator) -> int:
        """The picture to be seen in the place of this one."""
        if not len(self._sums):
            return index
        return int(np.searchsorted(self._sums, random.random() * self._sums[-1], side="right"))
