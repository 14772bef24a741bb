"""Models that see the golden as files: arrays and one line of JSON, nothing that could run."""

from __future__ import annotations

import dataclasses
import json
import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from backend import families
from backend.errors import Invalid
from workers.families.base import LONGEST_NAME, MOST_CLASSES, LoadedModel
from workers.families.golden import options
from workers.families.golden import partner as partners
from workers.families.golden.forest import Forest
from workers.families.golden.gloss import Map
from workers.families.golden.partner import Partner

LARGEST = 512 * 1024 * 1024  # bytes unpacked, with a detector's weights among them
MOST_ARRAYS, DEEPEST = 10_000, 500
BROKEN = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError, EOFError,
    RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error, SyntaxError,
)  # fmt: skip
_PARTS = tuple(field.name for field in dataclasses.fields(Forest) if field.name != "depth")
Arrays = dict[str, NDArray[np.generic]]


class StrangePack(ValueError):
    """An array or a word that no model of ours holds."""


def put(path: Path, about: Mapping[str, Any], arrays: Arrays, carrying: Partner | None) -> None:
    """Save a model with the detector that it carries; the file appears whole or not at all."""
    told = {"name": carrying.name, "family": carrying.family} if carrying else None
    if carrying:
        arrays = {**arrays, "partner": np.frombuffer(carrying.weights, np.uint8)}
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        line = np.array(json.dumps({**about, "partner": told}))
        np.savez_compressed(file, about=line, **arrays)  # type: ignore[arg-type]
    partial.replace(path)


def opened(path: Path) -> tuple[dict[str, Any], Arrays]:
    """What a file says of itself, and its arrays; what is wrong with it is one of BROKEN."""
    _check_sizes(path)
    with np.load(path, allow_pickle=False) as arrays:
        found = dict(arrays)
    about = json.loads(str(found["about"]))
    if not isinstance(about, dict):
        raise StrangePack("it says nothing of itself")
    return about, found


def unreadable(path: Path, kind: str) -> Invalid:
    """What is told of a file that none of the models of this version is kept in."""
    return Invalid(f"{path.name} is not a {kind} that this version can read.")


def taken_apart(name: str, forest: Forest | None) -> Arrays:
    """A forest as arrays under a name."""
    if forest is None:
        return {}
    arrays: Arrays = {f"{name}_{part}": getattr(forest, part) for part in _PARTS}
    return {**arrays, f"{name}_depth": np.array(forest.depth)}


def forest(name: str, arrays: Arrays) -> Forest | None:
    """The forest that is kept under a name, if there is one; no link of it leads out of it."""
    if f"{name}_roots" not in arrays:
        return None
    parts = {part: arrays[f"{name}_{part}"] for part in _PARTS}
    made = Forest(**parts, depth=int(arrays[f"{name}_depth"]))  # type: ignore[arg-type]
    nodes = len(made.value)
    for links in (made.roots, made.left, made.right, made.feature):
        if (
            links.ndim != 1
            or links.dtype.kind != "i"
            or not 0 <= links.min() <= links.max() < nodes
        ):
            raise StrangePack(f"{name} leads nowhere")
    one_each = {len(made.left), len(made.right), len(made.feature), len(made.threshold)} == {nodes}
    if not one_each or made.value.ndim != 2 or not 0 <= made.depth <= DEEPEST:
        raise StrangePack(f"{name} is no forest")
    if not np.isfinite(made.value).all() or not np.isfinite(made.threshold).all():
        raise StrangePack(f"{name} holds what is no number")
    return made


def classes(about: dict[str, Any]) -> tuple[str, ...]:
    """The names of what it finds."""
    found = about["classes"]
    if not isinstance(found, list) or not 0 < len(found) <= MOST_CLASSES:
        raise StrangePack("it has no classes")
    if not all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in found):
        raise StrangePack("a class has no name")
    return tuple(found)


def settings(told: dict[str, Any]) -> options.GoldenOptions:
    """How it compares."""
    for field in dataclasses.fields(options.GoldenOptions):
        given = told.get(field.name, field.default)
        known = str if isinstance(field.default, str) else (int, float)
        if not isinstance(given, known) or (given != given):
            raise StrangePack(f"{field.name} is no setting")
    return options.read(told)


def gloss_arrays(maps: Sequence[Map]) -> Arrays:
    """Where good photographs stand out, as arrays."""
    arrays: Arrays = {}
    for number, each in enumerate(maps):
        arrays |= {f"gloss_{number}": each.levels, f"gloss_icon_{number}": each.icon}
    return arrays


def glosses(about: dict[str, Any], arrays: Arrays) -> tuple[Map, ...]:
    """Where good photographs stand out, by the sizes that the file says."""
    return tuple(
        Map(
            arrays[f"gloss_icon_{number}"].astype(np.uint8),
            (int(size[0]), int(size[1])),
            arrays[f"gloss_{number}"].astype(np.uint8),
        )
        for number, size in enumerate(about["glosses"])
    )


def carried(about: dict[str, Any], arrays: Arrays) -> dict[str, str] | None:
    """What it says of its detector, if it carries one: no golden model carries another."""
    told = about["partner"]
    if told is None:
        return None
    if told["family"] not in families.FAMILIES or families.find(told["family"]).needs_golden:
        raise StrangePack("its detector is of no family")
    if not isinstance(told["name"], str) or arrays["partner"].dtype != np.uint8:
        raise StrangePack("its detector is none")
    return {"name": told["name"], "family": told["family"]}


def detector(path: Path, kind: str) -> tuple[str, bytes] | None:
    """The family and the weights of the detector that a file of that kind carries, if it does."""
    try:
        about, arrays = opened(path)
        told = carried(about, arrays)
    except BROKEN as error:
        raise unreadable(path, kind) from error
    return (told["family"], arrays["partner"].tobytes()) if told else None


def partner(
    about: dict[str, Any], arrays: Arrays, device: str, detector: LoadedModel | None
) -> Partner | None:
    """The detector that it carries, which runs by itself, or as the one given."""
    told = carried(about, arrays)
    if told is None:
        return None
    data = arrays["partner"].tobytes()
    if detector is not None:
        return Partner(told["name"], told["family"], data, detector)
    return partners.loaded(told["name"], told["family"], data, device)


def _check_sizes(path: Path) -> None:
    """Whether what is packed is as large as it says, and no larger than a model ever is."""
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        if len(members) > MOST_ARRAYS or sum(one.file_size for one in members) > LARGEST:
            raise ValueError("it unpacks to more than a model ever is")
        for one in members:
            with packed.open(one) as file:
                _check_size(file, one.file_size)


def _check_size(file: IO[bytes], size: int) -> None:
    kind = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, _, dtype = read[kind](file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize > size:
        raise ValueError("an array is not what it says")
