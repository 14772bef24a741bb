"""State dicts into networks: what fits is taken over, and too little of it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import nn

from backend.errors import Invalid
from workers.weights import weight_files

ENOUGH = 0.5


def fill(network: nn.Module, tensors: weight_files.Tensors, path: Path) -> None:
    """All of a state, or a sentence."""
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        reason = weight_files.reason(path, error, weight_files.OTHER)
        raise Invalid(f"The weights {path.name} do not fit: {reason}.") from error


def begin(
    network: nn.Module,
    path: Path,
    family: str,
    variant: str,
    classes: tuple[str, ...],
    renamed: Sequence[tuple[str, str]],
    part: str = "",
) -> None:
    """Start from a file: ours, or a library's state dict, its names' beginnings renamed to ours.

    Layers of another shape (the classes') stay fresh. Refused if less than half of the network,
    or of its `part` with that prefix, is found.
    """
    if weight_files.is_ours(path):
        header, tensors = weight_files.load(path, family)
        if header.variant != variant:
            raise Invalid(
                f"The weights {path.name} are of {family} {header.variant}, not of {variant}."
            )
        if header.classes != classes:
            # Rows of the last layers stand for other classes: only shapes would match.
            tensors = _without_last(tensors)
        renamed = (("", ""),)
    else:
        tensors = weight_files.read_state(path)
    found = max((_fitting(network, tensors, old, new) for old, new in renamed), key=len)
    wanted = [name for name in network.state_dict() if name.startswith(part)]
    if len([name for name in found if name.startswith(part)]) < ENOUGH * len(wanted):
        raise Invalid(f"The weights {path.name} do not belong to {family} {variant}.")
    network.load_state_dict(found, strict=False)


def _fitting(
    network: nn.Module, tensors: weight_files.Tensors, old: str, new: str
) -> weight_files.Tensors:
    known = network.state_dict()
    named = {new + n.removeprefix(old): t for n, t in tensors.items() if n.startswith(old)}
    return {n: t for n, t in named.items() if n in known and known[n].shape == t.shape}


def _without_last(tensors: weight_files.Tensors) -> weight_files.Tensors:
    last = ("fc.", "classifier.", "roi_heads.box_predictor.")
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(last)}
