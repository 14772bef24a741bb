"""The file of a second stage: its forest and the detector, kept as a golden model is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from backend.errors import Invalid
from workers.families.base import LoadedModel
from workers.families.golden import packed
from workers.families.golden.forest import Forest
from workers.families.golden.packed import Arrays
from workers.families.second_stage import places
from workers.families.second_stage.model import TwoStages

FAMILY, FORMAT = "second_stage", 1
KIND = "second stage"


def write(model: TwoStages, path: Path) -> None:
    """Save both stages; the file appears whole or not at all."""
    about = {
        "family": FAMILY,
        "format": FORMAT,
        "classes": model.classes,
        "settings": dataclasses.asdict(model.settings),
        "glosses": [each.size for each in model.glosses],
    }
    arrays = packed.taken_apart("forest", model.forest) | packed.gloss_arrays(model.glosses)
    packed.put(path, about, arrays, model.partner)


def read(path: Path, device: str = "cpu", detector: LoadedModel | None = None) -> TwoStages:
    """Load what `write` has saved; its detector runs by itself, or as the one given."""
    try:
        about, arrays = packed.opened(path)
        if (about["family"], about["format"]) != (FAMILY, FORMAT):
            raise packed.StrangePack(about["family"])
        classes, settings = packed.classes(about), packed.settings(about["settings"])
        forest, glosses = _forest(arrays, len(classes)), packed.glosses(about, arrays)
        if packed.carried(about, arrays) is None:
            raise packed.StrangePack("it carries no detector")
    except (*packed.BROKEN, Invalid) as error:
        raise packed.unreadable(path, KIND) from error
    partner = packed.partner(about, arrays, device, detector)
    if partner is None:
        raise packed.unreadable(path, KIND)
    return TwoStages(classes, settings, forest, partner, glosses)


def _forest(arrays: Arrays, classes: int) -> Forest:
    found = packed.forest("forest", arrays)
    wide = places.columns(classes)
    if found is None or found.value.shape[1] != classes + 1 or found.feature.max() >= wide:
        raise packed.StrangePack("its forest is of other classes")
    return found
