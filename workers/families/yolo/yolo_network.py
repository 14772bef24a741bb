"""YOLO networks from files and back: ours, and Ultralytics' own without running their code."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from backend.errors import Invalid
from workers import offline
from workers.families.yolo import safe_graph
from workers.weights import weight_files
from workers.weights.weight_files import WeightsHeader

offline.prepare()

from ultralytics.nn import tasks  # noqa: E402 - must be imported after the settings are made

DETECTOR = "Take a YOLO detector as Ultralytics saves it (.pt), or weights of Loupe (.safetensors)."


def read(path: Path) -> tuple[WeightsHeader, Any]:
    """The network of a weights file, in training mode off."""
    header, network = _ours(path) if weight_files.is_ours(path) else _theirs(path)
    return header, network.float().eval()


def fresh(variant: str, classes: tuple[str, ...], image_size: int) -> tuple[WeightsHeader, Any]:
    """A network that knows nothing."""
    network = tasks.DetectionModel(f"yolo11{variant}.yaml", nc=len(classes), verbose=False)
    return describe(network, classes, image_size), network


def describe(network: Any, classes: tuple[str, ...], image_size: int) -> WeightsHeader:
    """The header that goes with a network."""
    architecture = safe_graph.checked(network.yaml)
    variant = str(architecture.get("scale", ""))
    return WeightsHeader("yolo", variant, classes, image_size, {"architecture": architecture})


def save(path: Path, header: WeightsHeader, network: Any) -> Path:
    """Write a network in our format."""
    return weight_files.save(path, header, network.state_dict())


def _ours(path: Path) -> tuple[WeightsHeader, Any]:
    header, tensors = weight_files.load(path, "yolo")
    try:
        graph = safe_graph.checked(header.extra.get("architecture"))
        network = tasks.DetectionModel(graph, nc=len(header.classes), verbose=False)
        _widen_head(network, tensors)
        network.load_state_dict(tensors)
    except weight_files.DAMAGED as error:
        reason = weight_files.reason(path, error, weight_files.OTHER)
        raise Invalid(f"The weights {path.name} do not fit: {reason}.") from error
    network.names = dict(enumerate(header.classes))
    return header, network


def _theirs(path: Path) -> tuple[WeightsHeader, Any]:
    """A pickle of Ultralytics; anything else in it is refused by torch's own unpickler."""
    try:
        with warnings.catch_warnings(action="ignore"), _named_pt(path) as named:
            found, _ = tasks.torch_safe_load(str(named), safe_only=True)
    except weight_files.DAMAGED as error:
        raise Invalid(
            f"The weights {path.name} were refused: "
            f"{weight_files.reason(path, error, weight_files.unread(path))}. {DETECTOR}"
        ) from error
    network = found.get("ema") or found.get("model")
    if not isinstance(network, tasks.DetectionModel):
        raise Invalid(f"The weights {path.name} hold no YOLO that finds boxes. {DETECTOR}")
    try:
        classes = tuple(str(network.names[index]) for index in sorted(network.names))
        return describe(network, classes, _image_size(found)), network
    except weight_files.DAMAGED as error:
        raise Invalid(
            f"The weights {path.name} hold a YOLO that Loupe does not build: "
            f"{weight_files.reason(path, error, 'it does not say what it is made of')}. {DETECTOR}"
        ) from error


@contextlib.contextmanager
def _named_pt(path: Path) -> Iterator[Path]:
    """Ultralytics wants the ending .pt, which the store drops."""
    if path.suffix == ".pt":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "weights.pt"
        link.symlink_to(path.resolve())
        yield link


def _image_size(found: Mapping[str, Any]) -> int:
    size = (found.get("train_args") or {}).get("imgsz", 640)
    return int(size if isinstance(size, int) else max(size))


def _widen_head(network: Any, tensors: weight_files.Tensors) -> None:
    """Give the class branches the width they were trained with: it depends on their first classes.

    Ultralytics makes them as wide as the number of classes that the weights were first made for.
    """
    head = network.model[-1]
    last = len(network.model) - 1
    width = tensors[f"model.{last}.cv3.0.2.weight"].shape[1]
    if head.cv3[0][-1].in_channels == width:
        return
    wide = tasks.DetectionModel(dict(network.yaml), nc=width, verbose=False)
    for branch in wide.model[-1].cv3:
        branch[-1] = torch.nn.Conv2d(branch[-1].in_channels, head.nc, 1)
    head.cv3 = wide.model[-1].cv3
