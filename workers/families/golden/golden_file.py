"""A golden model as a file: arrays and one line of JSON, nothing that could run."""

from __future__ import annotations

import dataclasses
import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from backend import families
from backend.errors import Invalid
from workers.families.base import LONGEST_NAME, MOST_CLASSES, LoadedModel
from workers.families.golden import options
from workers.families.golden import partner as partners
from workers.families.golden.edges import Edges
from workers.families.golden.forest import Forest
from workers.families.golden.gloss import Map
from workers.families.golden.likelihood import Calibration, Likelihood
from workers.families.golden.model import GoldenModel
from workers.families.golden.partner import Partner

FORMAT = 2
LARGEST = 512 * 1024 * 1024  # bytes unpacked, with a detector's weights among them
MOST_ARRAYS, DEEPEST = 10_000, 500
_BROKEN = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError, EOFError,
    RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error, SyntaxError,
)  # fmt: skip
_PARTS = tuple(field.name for field in dataclasses.fields(Forest) if field.name != "depth")
Arrays = dict[str, NDArray[np.generic]]


def write(model: GoldenModel, path: Path) -> None:
    """Save a model; the file appears whole or not at all."""
    judge, edges, partner = model.judge, model.edges, model.partner
    about = {
        "format": FORMAT,
        "classes": model.classes,
        "settings": dataclasses.asdict(model.settings),
        "weight": judge.weight,
        "calibration": dataclasses.asdict(judge.calibration),
        "share": edges.share,
        "glosses": [each.size for each in model.glosses],
        "partner": {"name": partner.name, "family": partner.family} if partner else None,
    }
    arrays: Arrays = {"kinds": judge.kinds, "margins": edges.margins}
    arrays |= _taken_apart("forest", judge.forest) | _taken_apart("edges", edges.forest)
    for number, each in enumerate(model.glosses):
        arrays |= {f"gloss_{number}": each.levels, f"gloss_icon_{number}": each.icon}
    if partner:
        arrays["partner"] = np.frombuffer(partner.weights, np.uint8)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    partial.replace(path)


def read(path: Path, device: str = "cpu", detector: LoadedModel | None = None) -> GoldenModel:
    """Load a model that `write` has saved; its detector runs by itself, or as the one given."""
    about, arrays = _opened(path)
    try:
        model = _model(about, arrays)
        _carried(about, arrays)
    except (*_BROKEN, Invalid) as error:
        raise _unreadable(path) from error
    return dataclasses.replace(model, partner=_partner(about, arrays, device, detector))


def carried(path: Path) -> tuple[str, bytes] | None:
    """The family and the weights of the detector that a golden model carries, if it does."""
    about, arrays = _opened(path)
    try:
        told = _carried(about, arrays)
    except _BROKEN as error:
        raise _unreadable(path) from error
    return (told["family"], arrays["partner"].tobytes()) if told else None


def _opened(path: Path) -> tuple[dict[str, Any], Arrays]:
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as arrays:
            found = dict(arrays)
        about = json.loads(str(found["about"]))
    except _BROKEN as error:
        raise _unreadable(path) from error
    if not isinstance(about, dict):
        raise _unreadable(path)
    return about, found


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


class _Strange(ValueError):
    """An array or a word that no model of ours holds."""


def _unreadable(path: Path) -> Invalid:
    return Invalid(f"{path.name} is not a golden model that this version can read.")


def _taken_apart(name: str, forest: Forest | None) -> Arrays:
    if forest is None:
        return {}
    arrays: Arrays = {f"{name}_{part}": getattr(forest, part) for part in _PARTS}
    return {**arrays, f"{name}_depth": np.array(forest.depth)}


def _forest(name: str, arrays: Arrays) -> Forest | None:
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
            raise _Strange(f"{name} leads nowhere")
    one_each = {len(made.left), len(made.right), len(made.feature), len(made.threshold)} == {nodes}
    if not one_each or made.value.ndim != 2 or not 0 <= made.depth <= DEEPEST:
        raise _Strange(f"{name} is no forest")
    if not np.isfinite(made.value).all() or not np.isfinite(made.threshold).all():
        raise _Strange(f"{name} holds what is no number")
    return made


def _classes(about: dict[str, Any]) -> tuple[str, ...]:
    found = about["classes"]
    if not isinstance(found, list) or not 0 < len(found) <= MOST_CLASSES:
        raise _Strange("it has no classes")
    if not all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in found):
        raise _Strange("a class has no name")
    return tuple(found)


def _kinds(arrays: Arrays, classes: int) -> NDArray[np.float32]:
    found = arrays["kinds"].astype(np.float32)
    if found.ndim != 2 or found.shape[1] != classes or not np.isfinite(found).all():
        raise _Strange("its rules are of other classes")
    return found


def _settings(told: dict[str, Any]) -> options.GoldenOptions:
    for field in dataclasses.fields(options.GoldenOptions):
        given = told.get(field.name, field.default)
        known = str if isinstance(field.default, str) else (int, float)
        if not isinstance(given, known) or (given != given):
            raise _Strange(f"{field.name} is no setting")
    return options.read(told)


def _model(about: dict[str, Any], arrays: Arrays) -> GoldenModel:
    if about["format"] != FORMAT:
        raise _Strange(about["format"])
    classes = _classes(about)
    return GoldenModel(
        classes,
        _settings(about["settings"]),
        Likelihood(
            _kinds(arrays, len(classes)),
            _forest("forest", arrays),
            float(about["weight"]),
            Calibration(**about["calibration"]),
        ),
        Edges(
            arrays["margins"].astype(np.float64),
            float(about["share"]),
            _forest("edges", arrays),
        ),
        glosses=tuple(
            Map(
                arrays[f"gloss_icon_{number}"].astype(np.uint8),
                (int(size[0]), int(size[1])),
                arrays[f"gloss_{number}"].astype(np.uint8),
            )
            for number, size in enumerate(about["glosses"])
        ),
    )


def _carried(about: dict[str, Any], arrays: Arrays) -> dict[str, str] | None:
    """What it says of its detector, if it carries one: no golden model carries another."""
    told = about["partner"]
    if told is None:
        return None
    if told["family"] not in families.FAMILIES or families.find(told["family"]).needs_golden:
        raise _Strange("its detector is of no family")
    if not isinstance(told["name"], str) or arrays["partner"].dtype != np.uint8:
        raise _Strange("its detector is none")
    return {"name": told["name"], "family": told["family"]}


def _partner(
    about: dict[str, Any], arrays: Arrays, device: str, detector: LoadedModel | None
) -> Partner | None:
    told = _carried(about, arrays)
    if told is None:
        return None
    data = arrays["partner"].tobytes()
    if detector is not None:
        return Partner(told["name"], told["family"], data, detector)
    return partners.loaded(told["name"], told["family"], data, device)
