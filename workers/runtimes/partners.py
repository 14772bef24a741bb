"""The detector that another model carries, prepared beside it and run as fast as any other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from backend import families
from workers import runtimes
from workers.families.base import LoadedModel
from workers.families.golden import golden_file, packed
from workers.families.second_stage import stage_file
from workers.runtimes import ModelSource

FILE, FACTS = "detector", "detector.json"
LEAST = 0.001  # who carries it weighs faint evidence by itself


def prepare(carrier: ModelSource, folder: Path, pictures: Sequence[Path]) -> None:
    """Fill the folder from a model's file, if that carries a detector."""
    kind = (stage_file if families.staged(carrier.family) else golden_file).KIND
    found = packed.detector(carrier.weights, kind) if carrier.weights else None
    if found is None:
        return
    family, data = found
    (folder / FILE).write_bytes(data)
    row = runtimes.best(family)
    code, source = runtimes.implementation(row.name), ModelSource(family, folder / FILE)
    classes, size = code.about(source)
    precision = code.precision("", family)
    code.prepare(ModelSource(family, folder / FILE, classes, size), precision, folder, pictures)
    facts = [family, row.name, precision, classes, size]
    (folder / FACTS).write_text(json.dumps(facts))


def load(folder: Path, threads: int) -> LoadedModel | None:
    """The detector in memory, if the folder holds one."""
    if not (folder / FACTS).is_file():
        return None
    family, runtime, precision, classes, size = json.loads((folder / FACTS).read_text())
    source = ModelSource(family, folder / FILE, tuple(classes), size)
    return runtimes.implementation(runtime).load(folder, source, precision, LEAST, threads)
