"""Runs a family by its own code, for those that have no graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workers.models import base, golden
from workers.models.base import Model
from workers.runtimes import Source


def precision(wanted: str) -> str:
    """There is one."""
    del wanted
    return "f32"


def about(source: Source) -> tuple[tuple[str, ...], int]:
    """The classes and the image size of the loaded model."""
    model = load(Path(), source, "", 0.0, 1)
    return model.classes, source.image_size or int(getattr(model, "image_size", 0))


def prepare(source: Source, precision: str, folder: Path, pictures: Sequence[Path]) -> None:
    """Nothing to do: the weights themselves are loaded."""


def load(folder: Path, source: Source, precision: str, confidence: float, threads: int) -> Model:
    """What the family loads; the worker drops what it is not confident of."""
    del folder, precision, confidence
    if source.family != "golden":
        _bound(threads)
    if source.family == "golden" and source.weights is None:
        return golden.untrained(source.classes)
    return base.implementation(source.family).load(source.weights, "")


def _bound(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
