"""Runs graphs in ONNX Runtime: in TensorRT or on CUDA where its build has them, or plainly."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from workers.families import letterbox
from workers.families.base import LoadedModel
from workers.runtimes import ModelSource
from workers.runtimes.boxes import BoxModel
from workers.runtimes.labels import LabelModel

GRAPH = "graph.onnx"
TENSORRT, CUDA = "TensorrtExecutionProvider", "CUDAExecutionProvider"
PLAIN = "CPUExecutionProvider"
OPSET = 17
CARD_BATCH = 32


def precision(wanted: str, family: str) -> str:
    """There is one."""
    del wanted, family
    return "f32"


def about(source: ModelSource) -> tuple[tuple[str, ...], int]:
    """The classes and the image size."""
    from workers.runtimes import networks

    return networks.about(source)


def prepare(source: ModelSource, precision: str, folder: Path, pictures: Sequence[Path]) -> None:
    """Write the graph for any number of pictures of any size."""
    del precision, pictures
    import torch

    graph, shape, axes = _open(source)
    example = torch.zeros(*shape, 3, dtype=torch.uint8)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing is deprecated, yet keeps the shape open
        torch.onnx.export(
            graph, (example,), str(folder / GRAPH), dynamo=False, opset_version=OPSET,
            input_names=["pixels"], output_names=["rows"], dynamic_axes=axes,
        )  # fmt: skip


def load(
    folder: Path, source: ModelSource, precision: str, confidence: float, threads: int
) -> LoadedModel:
    """The model on the card if this build of the library reaches one."""
    del precision
    forward = OnnxForward(folder / GRAPH, threads)
    if source.family == "classifier":
        return LabelModel(forward, source.classes, source.image_size)
    if source.family == "faster_rcnn":
        forward.most = 1
        return BoxModel(forward, source.classes, source.image_size, confidence, letterbox.corner)
    return BoxModel(forward, source.classes, source.image_size, confidence)


def _open(source: ModelSource) -> tuple[Any, tuple[int, int, int], dict[str, dict[int, str]]]:
    """A family's graph, the input that it is read with, and what of a shape stays open."""
    from workers.runtimes import networks

    sides, side = {1: "height", 2: "width"}, source.image_size
    if source.family == "yolo":
        axes = {"pixels": {0: "count", **sides}, "rows": {0: "count"}}
        # Two pictures: with one the graph would take the short way that serves one alone.
        return networks.detector(source)[0], (2, 640, 480), axes
    if source.family == "classifier":
        return networks.torchvision(source), (2, side, side), {"pixels": {0: "count"}}
    return networks.torchvision(source), (1, side, side), {"pixels": sides, "rows": {1: "found"}}


def providers(found: Sequence[str], folder: Path) -> list[Any]:
    """What may compute, best first; TensorRT keeps beside the graph what it has built of it."""
    kept = {"trt_engine_cache_enable": True, "trt_engine_cache_path": str(folder)}
    wanted = ((TENSORRT, kept), CUDA, PLAIN)
    return [one for one in wanted if (one if isinstance(one, str) else one[0]) in found]


class OnnxForward:
    """A prepared graph in a session."""

    def __init__(self, path: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        chosen = providers(onnxruntime.get_available_providers(), path.parent)
        self._session = onnxruntime.InferenceSession(str(path), options, providers=chosen)
        self.most = CARD_BATCH if CUDA in self._session.get_providers() else 1

    def tensor(self, count: int, height: int, width: int) -> NDArray[np.uint8]:
        """A fresh array."""
        return np.empty((count, height, width, 3), np.uint8)

    def infer(self, tensor: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The rows."""
        (rows,) = self._session.run(["rows"], {"pixels": tensor})
        return np.asarray(rows, np.float32)
