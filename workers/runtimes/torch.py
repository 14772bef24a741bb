"""Runs graphs in PyTorch: half precision on a graphics card, plain float32 on the processor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from workers.families.base import LoadedModel
from workers.runtimes import ModelSource, networks
from workers.runtimes.boxes import BoxModel

CARD_BATCH = 32


about = networks.about


def precision(wanted: str, family: str) -> str:
    """Half only where there is a card."""
    del family
    return "f16" if torch.cuda.is_available() and wanted in ("", "f16") else "f32"


def prepare(source: ModelSource, precision: str, folder: Path, pictures: Sequence[Path]) -> None:
    """Nothing to do: the weights themselves are loaded."""


def load(
    folder: Path, source: ModelSource, precision: str, confidence: float, threads: int
) -> LoadedModel:
    """The model on the card where there is one."""
    del folder
    torch.set_num_threads(threads)
    graph, _ = networks.detector(source)
    return BoxModel(TorchForward(graph, precision), source.classes, source.image_size, confidence)


class TorchForward:
    """A graph of `workers.runtimes.graph` in PyTorch."""

    def __init__(self, graph: Any, precision: str) -> None:
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.most = CARD_BATCH if self._device.type == "cuda" else 1
        graph = graph.to(self._device, memory_format=torch.channels_last)
        self._graph = graph.half() if precision == "f16" and self.most > 1 else graph

    def tensor(self, count: int, height: int, width: int) -> NDArray[np.uint8]:
        """A fresh array."""
        return np.empty((count, height, width, 3), np.uint8)

    def infer(self, tensor: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The rows, halving the batch when the card's memory ends."""
        try:
            with torch.inference_mode():
                rows = self._graph(torch.from_numpy(tensor).to(self._device, non_blocking=True))
                return np.asarray(rows.float().cpu().numpy())
        except torch.cuda.OutOfMemoryError:
            if len(tensor) == 1:
                raise
            torch.cuda.empty_cache()
            self.most = max(len(tensor) // 2, 1)
            halves = tensor[: self.most], tensor[self.most :]
            return np.concatenate([self.infer(half) for half in halves])
