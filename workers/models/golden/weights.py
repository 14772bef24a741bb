"""A golden model as a file: arrays and one line of JSON, nothing that could run."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.errors import Invalid
from workers.models.golden import settings
from workers.models.golden.forest import Forest
from workers.models.golden.judging import Calibration, Judge
from workers.models.golden.model import GoldenModel

FORMAT = 1
_PARTS = tuple(field.name for field in dataclasses.fields(Forest) if field.name != "depth")


def write(model: GoldenModel, path: Path) -> None:
    """Save a model; the file appears whole or not at all."""
    judge = model.judge
    about = {
        "format": FORMAT,
        "classes": model.classes,
        "settings": dataclasses.asdict(model.settings),
        "weight": judge.weight,
        "calibration": dataclasses.asdict(judge.calibration),
        "depth": judge.forest.depth if judge.forest else 0,
    }
    arrays: dict[str, NDArray[np.generic]] = {"kinds": judge.kinds, "margins": model.margins}
    if judge.forest:
        arrays |= {f"forest_{name}": getattr(judge.forest, name) for name in _PARTS}
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    partial.replace(path)


def read(path: Path) -> GoldenModel:
    """Load a model that `write` has saved."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _model(dict(arrays))
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise Invalid(f"{path.name} is not a golden model that this version can read.") from error


def _model(arrays: dict[str, NDArray[np.generic]]) -> GoldenModel:
    about = json.loads(str(arrays["about"]))
    if about["format"] != FORMAT:
        raise ValueError(about["format"])
    forest = None
    if "forest_roots" in arrays:
        parts = {name: arrays[f"forest_{name}"] for name in _PARTS}
        forest = Forest(**parts, depth=int(about["depth"]))  # type: ignore[arg-type]
    return GoldenModel(
        tuple(about["classes"]),
        settings.read(about["settings"]),
        Judge(
            arrays["kinds"].astype(np.float32),
            forest,
            float(about["weight"]),
            Calibration(**about["calibration"]),
        ),
        arrays["margins"].astype(np.float64),
    )
