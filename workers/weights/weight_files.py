"""Weights as safetensors: plain numbers with a header that says what they are; never a pickle.

Matrices are kept in half precision. The header holds the family, the variant, the classes, the
image size, and what else the family wants (`extra`), each as JSON.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from backend.errors import Invalid, NotFound, Unavailable
from workers.families.base import LONGEST_NAME, MOST_CLASSES

log = logging.getLogger(__name__)
LONGEST_HEADER = 10_000_000
LARGEST_SIZE = 16_384
_TOLD = ("family", "variant", "classes", "image_size", "extra")
PLAIN = "Take a state dict as torchvision publishes it, or weights of Loupe (.safetensors)."
OTHER = "their numbers are of another network than the file says"
Tensors = dict[str, torch.Tensor]
# What torch raises on a file that is damaged, or that holds more than plain numbers.
DAMAGED = (
    RuntimeError,
    pickle.UnpicklingError,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ImportError,
    OSError,
)


class Strange(ValueError):
    """What a file says is none of what it may say; the message is for people."""


@dataclass(frozen=True, slots=True)
class WeightsHeader:
    """What a weights file is."""

    family: str
    variant: str
    classes: tuple[str, ...]
    image_size: int
    extra: Mapping[str, Any] = field(default_factory=dict)


def save(path: Path, header: WeightsHeader, tensors: Mapping[str, torch.Tensor]) -> Path:
    """Write weights; the file appears whole or not at all."""
    entries = {
        "family": header.family,
        "variant": header.variant,
        "classes": header.classes,
        "image_size": header.image_size,
        "extra": header.extra,
    }
    metadata = {name: json.dumps(value) for name, value in entries.items()}
    kept = {name: _compact(tensor) for name, tensor in tensors.items()}
    write_whole(path, safetensors.torch.save(kept, metadata))
    return path


def load(path: Path, family: str) -> tuple[WeightsHeader, Tensors]:
    """Read weights of that family, in single precision."""
    header = peek(path)
    if header.family != family:
        raise Invalid(
            f"The weights {path.name} belong to the family {header.family!r}, not to {family!r}."
        )
    try:
        tensors = safetensors.torch.load_file(path)
    except (safetensors.SafetensorError, RuntimeError, ValueError, OSError) as error:
        raise _no_weights(path, reason(path, error, "it is damaged")) from error
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise _no_weights(path, f"{name[:80]} holds what is no number.")
    return header, {name: _widen(tensor) for name, tensor in tensors.items()}


def renamed(path: Path, classes: tuple[str, ...], out: Path) -> Path:
    """The weights with their classes called so; a file of another kind stays as it is."""
    header = peek(path) if is_ours(path) else None
    if header is None or len(header.classes) != len(classes) or header.classes == classes:
        return path
    return save(out, replace(header, classes=classes), safetensors.torch.load_file(path))


def peek(path: Path) -> WeightsHeader:
    """What a weights file is, without reading its numbers."""
    if not path.is_file():
        raise NotFound(f"There is no weights file {path}.")
    try:
        _check_length(path)
        with safetensors.safe_open(path, framework="pt") as file:
            found = file.metadata() or {}
        return _header({name: json.loads(value) for name, value in found.items() if name in _TOLD})
    except KeyError as error:
        raise _no_weights(path, f"it does not say its {error.args[0]}.") from error
    except (safetensors.SafetensorError, ValueError, OSError, RecursionError) as error:
        raise _no_weights(path, reason(path, error, "it is damaged")) from error


def _check_length(path: Path) -> None:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > LONGEST_HEADER:
        raise Strange(f"it begins with {length:,} bytes of what it says of itself")


def _header(told: Mapping[str, Any]) -> WeightsHeader:
    classes, extra, size = told["classes"], told.get("extra", {}), told["image_size"]
    if not isinstance(told["family"], str) or not isinstance(told["variant"], str):
        raise Strange("its family and variant are no words")
    if not isinstance(classes, list) or not 0 < len(classes) <= MOST_CLASSES:
        raise Strange(f"it has no list of 1 to {MOST_CLASSES:,} classes")
    if not all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in classes):
        raise Strange("one of its classes has no name")
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST_SIZE:
        raise Strange(f"its pictures are not of 1 to {LARGEST_SIZE:,} pixels")
    if not isinstance(extra, dict):
        raise Strange("what it says besides is no object")
    return WeightsHeader(told["family"], told["variant"], tuple(classes), size, extra)


def _no_weights(path: Path, reason: str) -> Invalid:
    return Invalid(f"The file {path.name} is no weights file of Loupe: {reason.rstrip('.')}.")


def is_ours(path: Path) -> bool:
    """Whether a file begins as this format does, whatever its name: the store drops endings."""
    if not path.is_file():
        raise NotFound(f"There is no weights file {path}.")
    with path.open("rb") as file:
        start = file.read(9)
    return start[8:] == b"{" and int.from_bytes(start[:8], "little") < path.stat().st_size


def read_state(path: Path) -> Tensors:
    """The state dict of a torch file (.pt, .pth); code in it is refused, not run."""
    if not path.is_file():
        raise NotFound(f"There is no weights file {path}.")
    try:
        with warnings.catch_warnings(action="ignore"):
            found = torch.load(path, map_location="cpu", weights_only=True)
    except DAMAGED as error:
        raise Invalid(
            f"The weights {path.name} are no plain state dict: "
            f"{reason(path, error, unread(path))}. {PLAIN}"
        ) from error
    if not isinstance(found, dict) or not all(isinstance(v, torch.Tensor) for v in found.values()):
        raise Invalid(
            f"The weights {path.name} are no plain state dict: there is more in it than names "
            f"and their numbers. {PLAIN}"
        )
    return {str(name): _widen(tensor) for name, tensor in found.items()}


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file by its new content; on a full disk the old one stays as it was."""
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Unavailable(f"{path.name} could not be saved: {error.strerror}.") from error


def reason(path: Path, error: Exception, otherwise: str) -> str:
    """Why a file is refused, in our words; a library's own stand in the log."""
    log.warning("%s was refused: %s", path, error)
    return str(error) if isinstance(error, Strange) else otherwise


def unread(path: Path) -> str:
    """What is wrong with a file that PyTorch did not read."""
    try:
        with zipfile.ZipFile(path) as packed:
            whole = any(name.endswith("data.pkl") for name in packed.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        whole = False
    if whole:
        return "it holds more than weights, which Loupe does not load, as that may be code"
    return "it is damaged, or no file of PyTorch"


def _compact(tensor: torch.Tensor) -> torch.Tensor:
    """Vectors (running variances above all) do not fit half precision."""
    kept = tensor.detach().cpu().contiguous()
    return kept.half() if kept.is_floating_point() and kept.ndim > 1 else kept.clone()


def _widen(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.is_floating_point() else tensor
