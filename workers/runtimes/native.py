"""Runs a family by its own code, for those that have no graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backend import families
from workers.families import base, golden
from workers.families.base import LoadedModel
from workers.families.golden import golden_file
from workers.families.second_stage import stage_file
from workers.runtimes import ModelSource, partners


def precision(wanted: str, family: str) -> str:
    """There is one."""
    del wanted, family
    return "f32"


def about(source: ModelSource) -> tuple[tuple[str, ...], int]:
    """The classes and the image size of the loaded model."""
    seeing = families.find(source.family).needs_golden  # with the detector that it carries
    model = _golden(source, None) if seeing else load(Path(), source, "", 0, 1)
    return model.classes, source.image_size or int(getattr(model, "image_size", 0))


def prepare(source: ModelSource, precision: str, folder: Path, pictures: Sequence[Path]) -> None:
    """The weights themselves are loaded; only the detector that one carries is made quick."""
    del precision
    if families.find(source.family).needs_golden:
        partners.prepare(source, folder, pictures)


def load(
    folder: Path, source: ModelSource, precision: str, confidence: float, threads: int
) -> LoadedModel:
    """What the family loads; the worker drops what it is not confident of."""
    del precision, confidence
    if families.find(source.family).needs_golden:
        return _golden(source, partners.load(folder, threads))
    _bound(threads)
    return base.implementation(source.family).load(source.weights, "")


def _golden(source: ModelSource, detector: LoadedModel | None) -> LoadedModel:
    if source.weights is None:
        return golden.untrained(source.classes)
    if families.find(source.family).behind:
        return stage_file.read(source.weights, "", detector)
    return golden_file.read(source.weights, "", detector)


def _bound(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
