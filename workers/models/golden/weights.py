"""A golden model as a file: arrays and one line of JSON, nothing that could run."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.errors import Invalid
from workers.models.base import Model
from workers.models.golden import partner as partners
from workers.models.golden import settings
from workers.models.golden.edges import Edges
from workers.models.golden.forest import Forest
from workers.models.golden.gloss import Map
from workers.models.golden.judging import Calibration, Judge
from workers.models.golden.model import GoldenModel
from workers.models.golden.partner import Partner

FORMAT = 2
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


def read(path: Path, device: str = "cpu", detector: Model | None = None) -> GoldenModel:
    """Load a model that `write` has saved; its detector runs by itself, or as the one given."""
    about, arrays = _opened(path)
    try:
        model = _model(about, arrays)
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(path) from error
    return dataclasses.replace(model, partner=_partner(about, arrays, device, detector))


def carried(path: Path) -> tuple[str, bytes] | None:
    """The family and the weights of the detector that a golden model carries, if it does."""
    about, arrays = _opened(path)
    told = about.get("partner")
    return (told["family"], arrays["partner"].tobytes()) if told else None


def _opened(path: Path) -> tuple[dict[str, Any], Arrays]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = dict(arrays)
        return json.loads(str(found["about"])), found
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise _unreadable(path) from error


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
    return Forest(**parts, depth=int(arrays[f"{name}_depth"]))  # type: ignore[arg-type]


def _model(about: dict[str, Any], arrays: Arrays) -> GoldenModel:
    if about["format"] != FORMAT:
        raise ValueError(about["format"])
    return GoldenModel(
        tuple(about["classes"]),
        settings.read(about["settings"]),
        Judge(
            arrays["kinds"].astype(np.float32),
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


def _partner(
    about: dict[str, Any], arrays: Arrays, device: str, detector: Model | None
) -> Partner | None:
    told = about["partner"]
    if told is None:
        return None
    data = arrays["partner"].tobytes()
    if detector is not None:
        return Partner(told["name"], told["family"], data, detector)
    return partners.loaded(told["name"], told["family"], data, device)
