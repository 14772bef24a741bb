"""A network as a file for other programs."""

from __future__ import annotations

import importlib.util
import json
import warnings
from pathlib import Path

import torch

from backend.errors import Invalid, Unavailable
from workers.weights import weight_files

FORMATS = ("torchscript", "openvino", "onnx")


def write(
    network: torch.nn.Module,
    shape: tuple[int, ...],
    runtime: str,
    folder: Path,
    header: weight_files.WeightsHeader,
) -> Path:
    """Write the network and, beside it, model.json with its classes and image size."""
    if runtime not in FORMATS:
        raise Invalid(f"A model cannot be exported to {runtime!r}; there are {', '.join(FORMATS)}.")
    folder.mkdir(parents=True, exist_ok=True)
    example = torch.zeros(shape, device=next(network.parameters()).device)
    # Tracing is deprecated, yet the one way that all three formats share.
    with torch.inference_mode(), warnings.catch_warnings(action="ignore"):
        # A network that has never run may still lack what it makes once for its input's shape.
        network.eval()(example)
        path = _WRITERS[runtime](network, example, folder)
    about = {
        "family": header.family,
        "variant": header.variant,
        "classes": header.classes,
        "image_size": header.image_size,
        "input": {"shape": shape, "channels": "RGB", "range": [0, 1]},
    }
    (folder / "model.json").write_text(json.dumps(about, indent=1))
    return path


def _torchscript(network: torch.nn.Module, example: torch.Tensor, folder: Path) -> Path:
    path = folder / "model.torchscript"
    torch.jit.trace(network, example, strict=False, check_trace=False).save(str(path))  # type: ignore[no-untyped-call]
    return path


def _openvino(network: torch.nn.Module, example: torch.Tensor, folder: Path) -> Path:
    import openvino

    path = folder / "model.xml"
    converted = openvino.convert_model(network, example_input=example, input=list(example.shape))
    openvino.save_model(converted, path, compress_to_fp16=True)
    return path


def _onnx(network: torch.nn.Module, example: torch.Tensor, folder: Path) -> Path:
    if importlib.util.find_spec("onnx") is None:
        raise Unavailable("Exporting to ONNX needs the package onnx, which is not installed.")
    path = folder / "model.onnx"
    torch.onnx.export(network, (example,), str(path), dynamo=False)
    return path


_WRITERS = {"torchscript": _torchscript, "openvino": _openvino, "onnx": _onnx}
