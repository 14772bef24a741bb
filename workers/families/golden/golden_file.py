"""A golden model as a file: arrays and one line of JSON, nothing that could run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.errors import Invalid
from workers.families.base import LoadedModel
from workers.families.golden import packed
from workers.families.golden.edges import Edges
from workers.families.golden.likelihood import Calibration, Likelihood
from workers.families.golden.model import GoldenModel
from workers.families.golden.packed import Arrays

FORMAT = 2
KIND = "golden model"


def write(model: GoldenModel, path: Path) -> None:
    """Save a model; the file appears whole or not at all."""
    judge, edges = model.judge, model.edges
    about = {
        "format": FORMAT,
        "classes": model.classes,
        "settings": dataclasses.asdict(model.settings),
        "weight": judge.weight,
        "calibration": dataclasses.asdict(judge.calibration),
        "share": edges.share,
        "glosses": [each.size for each in model.glosses],
    }
    arrays: Arrays = {"kinds": judge.kinds, "margins": edges.margins}
    arrays |= packed.taken_apart("forest", judge.forest) | packed.taken_apart("edges", edges.forest)
    packed.put(path, about, arrays | packed.gloss_arrays(model.glosses), model.partner)


def read(path: Path, device: str = "cpu", detector: LoadedModel | None = None) -> GoldenModel:
    """Load a model that `write` has saved; its detector runs by itself, or as the one given."""
    try:
        about, arrays = packed.opened(path)
        model = _model(about, arrays)
        packed.carried(about, arrays)
    except (*packed.BROKEN, Invalid) as error:
        raise packed.unreadable(path, KIND) from error
    return dataclasses.replace(model, partner=packed.partner(about, arrays, device, detector))


def _kinds(arrays: Arrays, classes: int) -> NDArray[np.float32]:
    found = arrays["kinds"].astype(np.float32)
    if found.ndim != 2 or found.shape[1] != classes or not np.isfinite(found).all():
        raise packed.StrangePack("its rules are of other classes")
    return found


def _model(about: dict[str, Any], arrays: Arrays) -> GoldenModel:
    if about["format"] != FORMAT:
        raise packed.StrangePack(about["format"])
    classes = packed.classes(about)
    return GoldenModel(
        classes,
        packed.settings(about["settings"]),
        Likelihood(
            _kinds(arrays, len(classes)),
            packed.forest("forest", arrays),
            float(about["weight"]),
            Calibration(**about["calibration"]),
        ),
        Edges(
            arrays["margins"].astype(np.float64),
            float(about["share"]),
            packed.forest("edges", arrays),
        ),
        glosses=packed.glosses(about, arrays),
    )
