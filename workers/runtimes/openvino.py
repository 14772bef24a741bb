"""Runs graphs in OpenVINO on processors: bf16 where the processor has it, int8 as the fast mode.

OpenVINO is imported where a graph is compiled: who only names a prepared one does not wait for it.
"""

from __future__ import annotations

import logging
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import Invalid, Refused
from workers.families import letterbox
from workers.families.base import LoadedModel
from workers.runtimes import ModelSource, compiled, labels
from workers.runtimes.boxes import BoxModel
from workers.runtimes.compiled import Shape
from workers.runtimes.labels import LabelModel

GRAPH, QUICK = "graph.xml", "quick.xml"
KEEP_LEVEL = 100  # as in workers.runtimes.graph, which takes torch
# One photo in a thousand has more sure rows in a large level. In int8 the whole graph, which must
# then be compiled and asked, is quick enough for one in a hundred.
KEEP_LARGE, KEEP_INT8 = 100, 64
FIRST, CROWDED = 30, 10  # where one picture of ten is crowded, the quick graph gains nothing
SURE = 0.05  # the confidence from which the quick graph is worth it
CALIBRATION = 192
MOST_SHAPES = 32
CPU = Path("/proc/cpuinfo")
# What is neither a layer of the network nor a convolution over patches stays in floats.
BESIDE_LAYERS = r"^(?!.*__module\.(layers|head))(?!.*aten::_convolution).*aten.*"


def precision(wanted: str, family: str) -> str:
    """bf16 where this processor computes in it, else float32; int8 only when asked."""
    if family == "faster_rcnn" and wanted != "int8":
        return "f32"  # it computes with corners inside, for which bf16 has too few digits
    if wanted in ("", "bf16"):
        return "bf16" if _computes_in_bf16() else "f32"
    return wanted


def _computes_in_bf16() -> bool:
    """Linux says yes at once; OpenVINO takes half a second, before any process can be started."""
    if CPU.exists() and " avx512_bf16 " in CPU.read_text():
        return True
    import openvino

    return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def about(source: ModelSource) -> tuple[tuple[str, ...], int]:
    """The classes and the image size."""
    from workers.runtimes import networks

    return networks.about(source)


def prepare(source: ModelSource, precision: str, folder: Path, pictures: Sequence[Path]) -> None:
    """Write the graph for any picture size; for int8, quantised after looking at pictures."""
    import openvino

    from workers.runtimes import activations, networks

    if source.family != "yolo":
        if precision == "int8":
            raise Refused(f"int8 is made for YOLO; the family {source.family} runs in bf16 or f32.")
        graph = _converted(networks.torchvision(source), source.image_size)
        openvino.save_model(graph, str(folder / GRAPH), compress_to_fp16=False)
        return
    for name, graph in (
        (GRAPH, networks.detector(source)[0]),
        (QUICK, networks.quick_detector(source, _keep(precision))),
    ):
        if precision == "int8":
            activations.trade(graph)
        model = _converted(graph)
        if precision == "int8":
            model = _quantised(model, source.image_size, pictures)
        openvino.save_model(model, str(folder / name), compress_to_fp16=False)


def load(
    folder: Path, source: ModelSource, precision: str, confidence: float, threads: int
) -> LoadedModel:
    """The model, compiled for each input shape when it first comes."""
    if source.family != "yolo":
        size, fit = source.image_size, letterbox.corner
        most = labels.together(size) if source.family == "classifier" else 1
        plain = OpenVinoForward(folder / GRAPH, precision, threads, most)
        if source.family == "classifier":
            return LabelModel(plain, source.classes, size)
        return BoxModel(plain, source.classes, size, confidence, fit)
    forward = QuickForward(folder, precision, threads, confidence)
    return BoxModel(
        forward if confidence >= SURE else forward.whole(),
        source.classes,
        source.image_size,
        confidence,
    )


class Compiled:
    """A graph for one input shape, and where its pictures are written."""

    def __init__(self, request: Any) -> None:
        self.request = request
        self.input: NDArray[np.uint8] = np.asarray(request.get_input_tensor().data)


class OpenVinoForward:
    """A prepared graph; each input shape is compiled once and keeps its own input."""

    def __init__(self, path: Path, precision: str, threads: int, most: int = 1) -> None:
        import openvino

        self.most = most
        self._core = openvino.Core()
        self._path = path
        self._compiled: OrderedDict[Shape, Compiled] = OrderedDict()
        self._options = {
            "INFERENCE_PRECISION_HINT": "bf16" if precision == "int8" else precision,
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
            "CACHE_MODE": "OPTIMIZE_SPEED",  # with the weights, so that nothing else is read
        }

    def tensor(self, count: int, height: int, width: int) -> NDArray[np.uint8]:
        """The input of that shape."""
        shape = count, height, width
        if shape not in self._compiled:
            self._compiled[shape] = Compiled(self._compile(shape))
            if len(self._compiled) > MOST_SHAPES:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(shape)
        return self._compiled[shape].input

    def infer(self, tensor: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The rows of the pictures that were written into this shape's input."""
        count, height, width, _ = tensor.shape
        request = self._compiled[count, height, width].request
        request.infer()
        return np.asarray(request.get_output_tensor().data)

    def _compile(self, shape: Shape) -> Any:
        found = compiled.load(self._core, self._path, shape, self._options)
        return found.create_infer_request()


class QuickForward:
    """The graph that decodes few boxes, and the whole one for the rare picture with many."""

    most = 1

    def __init__(self, folder: Path, precision: str, threads: int, confidence: float) -> None:
        self._whole: OpenVinoForward | None = None
        self._folder, self._precision, self._threads = folder, precision, threads
        self._confidence = confidence
        self._keep = _keep(precision)
        self._quick = OpenVinoForward(folder / QUICK, precision, threads)
        self._seen = self._crowded = 0

    def whole(self) -> OpenVinoForward:
        """The graph that decodes all boxes worth it."""
        if self._whole is None:
            self._whole = OpenVinoForward(self._folder / GRAPH, self._precision, self._threads)
        return self._whole

    def tensor(self, count: int, height: int, width: int) -> NDArray[np.uint8]:
        """The input of that shape, for one picture."""
        return self._quick.tensor(count, height, width)

    def infer(self, tensor: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The rows, best first; where a level has only sure ones, it may have more of them."""
        if self._crowded * CROWDED > self._seen > FIRST:
            return self._all_of(tensor)
        self._seen += 1
        rows = self._quick.infer(tensor)
        last_of_levels = rows[0, _lasts(rows.shape[1], self._keep), 4]
        if (last_of_levels >= self._confidence).any():
            self._crowded += 1
            return self._all_of(tensor)
        sure = rows[0][rows[0, :, 4] >= self._confidence]
        return np.asarray(sure[None, np.argsort(-sure[:, 4], kind="stable")])

    def _all_of(self, tensor: NDArray[np.uint8]) -> NDArray[np.float32]:
        whole = self.whole()
        target = whole.tensor(*tensor.shape[:3])
        target[:] = tensor
        return whole.infer(target)


def _keep(precision: str) -> int:
    """How many rows of each large level the quick graph gives."""
    return KEEP_INT8 if precision == "int8" else KEEP_LARGE


def _lasts(count: int, keep: int) -> list[int]:
    """Where the rows of each level of the quick graph end."""
    return [*range(keep - 1, count - KEEP_LEVEL, keep), count - 1]


def _converted(graph: Any, side: int = 640) -> Any:
    """The graph for pictures of any size, read with the help of one of that side."""
    import openvino
    import torch
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    example = torch.zeros(1, side, side, 3, dtype=torch.uint8)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing is how OpenVINO reads a network; torch mourns it
        # Traced once: torch would do it again to compare, half of the time, and tests compare here.
        traced = TorchScriptPythonDecoder(
            graph, example_input=example, trace_kwargs={"check_trace": False}
        )
        model = openvino.convert_model(traced, example_input=example)
    model.reshape([1, -1, -1, 3])
    return model


def _quantised(model: Any, size: int, pictures: Sequence[Path]) -> Any:
    if not pictures:
        raise Invalid("int8 needs pictures of the kind it will see, to be calibrated on.")
    import nncf

    from workers.runtimes import rounding

    rounding.settle(model)
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
