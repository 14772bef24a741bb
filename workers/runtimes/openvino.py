"""Runs graphs in OpenVINO on processors: bf16 where the processor has it, int8 as the fast mode."""

from __future__ import annotations

import logging
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import openvino
from numpy.typing import NDArray

from backend.errors import Invalid
from workers.engine import letterbox
from workers.models.base import Model
from workers.runtimes import Source
from workers.runtimes.boxes import BoxModel

GRAPH = "graph.xml"
CALIBRATION = 192
MOST_SHAPES = 32
# Everything that is not a layer of the network stays in floats.
BESIDE_LAYERS = r"^(?!.*__module\.(layers|head)).*aten.*"


def precision(wanted: str) -> str:
    """bf16 where this processor computes in it, else float32; int8 only when asked."""
    able = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if wanted in ("", "bf16"):
        return "bf16" if "BF16" in able else "f32"
    return wanted


def about(source: Source) -> tuple[tuple[str, ...], int]:
    """The classes and the image size."""
    from workers.runtimes import networks

    return networks.about(source)


def prepare(source: Source, precision: str, folder: Path, pictures: Sequence[Path]) -> None:
    """Write the graph for any picture size; for int8, quantised after looking at pictures."""
    import torch

    from workers.runtimes import networks

    graph, _ = networks.detector(source)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing is how OpenVINO reads a network; torch mourns it
        model = openvino.convert_model(
            graph, example_input=torch.zeros(1, 64, 96, 3, dtype=torch.uint8)
        )
    model.reshape([1, -1, -1, 3])
    if precision == "int8":
        model = _quantised(model, source.image_size, pictures)
    openvino.save_model(model, str(folder / GRAPH), compress_to_fp16=False)


def load(folder: Path, source: Source, precision: str, confidence: float, threads: int) -> Model:
    """The model, compiled for each input shape when it first comes."""
    forward = OpenVinoForward(folder, precision, threads)
    return BoxModel(forward, source.classes, source.image_size, confidence)


class OpenVinoForward:
    """A prepared graph; each input shape is compiled once and keeps its own input."""

    most = 1

    def __init__(self, folder: Path, precision: str, threads: int) -> None:
        self._core = openvino.Core()
        self._core.set_property({"CACHE_DIR": str(folder / "compiled")})
        self._path = str(folder / GRAPH)
        self._requests: OrderedDict[tuple[int, int], Any] = OrderedDict()
        self._options = {
            "INFERENCE_PRECISION_HINT": "bf16" if precision == "int8" else precision,
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }

    def tensor(self, count: int, height: int, width: int) -> NDArray[np.uint8]:
        """The input of that shape, for one picture."""
        del count
        shape = height, width
        if shape not in self._requests:
            self._requests[shape] = self._compile(height, width)
            if len(self._requests) > MOST_SHAPES:
                self._requests.popitem(last=False)
        self._requests.move_to_end(shape)
        return np.asarray(self._requests[shape].get_input_tensor().data)

    def infer(self, tensor: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The rows of the picture that was written into this shape's input."""
        request = self._requests[tensor.shape[1], tensor.shape[2]]
        request.infer()
        return np.asarray(request.get_output_tensor().data)

    def _compile(self, height: int, width: int) -> Any:
        model = self._core.read_model(self._path)
        model.reshape([1, height, width, 3])
        return self._core.compile_model(model, "CPU", self._options).create_infer_request()


def _quantised(model: Any, size: int, pictures: Sequence[Path]) -> Any:
    if not pictures:
        raise Invalid("int8 needs pictures of the kind it will see, to be calibrated on.")
    import nncf

    nncf.set_log_level(logging.ERROR)
    chosen = list(pictures)[:: max(len(pictures) // CALIBRATION, 1)][:CALIBRATION]
    return nncf.quantize(
        model,
        nncf.Dataset(list(_inputs(chosen, size))),
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(chosen),
        ignored_scope=nncf.IgnoredScope(patterns=[BESIDE_LAYERS], validate=False),
    )


def _inputs(paths: Sequence[Path], size: int) -> Iterator[NDArray[np.uint8]]:
    for path in paths:
        pixels = cv2.imread(str(path))
        if pixels is None:
            continue
        where = letterbox.fit(pixels.shape[1], pixels.shape[0], size)
        tensor = np.empty((1, where.input_height, where.input_width, 3), np.uint8)
        letterbox.place(np.asarray(pixels, np.uint8), where, tensor[0])
        yield tensor
