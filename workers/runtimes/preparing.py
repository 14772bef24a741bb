"""Prepares a model for a runtime once and keeps it by content hash; loads it in any process."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.errors import Invalid, NotFound
from workers import runtimes
from workers.models.base import Model
from workers.runtimes import Source

GENERATION = 1  # of what `prepare` writes; a change makes every model be prepared anew
FACTS = "prepared.json"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model ready to be loaded by a runtime; `key` names its content and how it is run."""

    key: str
    runtime: str
    precision: str
    source: Source
    folder: Path


def prepare(
    source: Source,
    cache: Path,
    runtime: str = "",
    precision: str = "",
    calibration: Sequence[Path] = (),
) -> Prepared:
    """Prepare the model, or find it prepared. An empty runtime or precision takes the best."""
    row = runtimes.find(runtime) if runtime else _best(source.family)
    if source.family not in row.families:
        raise Invalid(f"The runtime {row.name} does not run the family {source.family}.")
    if precision and precision not in row.precisions:
        raise Invalid(
            f"The runtime {row.name} does not compute in {precision}; it knows "
            f"{', '.join(row.precisions)}."
        )
    code = runtimes.implementation(row.name)
    precision = code.precision(precision)
    key = _key(source, row.name, precision)
    folder = cache / "prepared" / key[:32]
    if not (folder / FACTS).is_file():
        _fill(folder, source, row.name, precision, calibration)
    facts = json.loads((folder / FACTS).read_text())
    complete = Source(source.family, source.weights, tuple(facts["classes"]), source.image_size)
    return Prepared(key, row.name, precision, complete, folder)


def load(prepared: Prepared, confidence: float = 0.25, threads: int = 1) -> Model:
    """The model in memory of this process."""
    code = runtimes.implementation(prepared.runtime)
    return code.load(prepared.folder, prepared.source, prepared.precision, confidence, threads)


def _best(family: str) -> runtimes.Runtime:
    found = runtimes.choices(family)
    if not found:
        raise Invalid(f"No installed runtime runs the family {family}.")
    return found[0]


def _fill(
    folder: Path, source: Source, runtime: str, precision: str, calibration: Sequence[Path]
) -> None:
    """Prepare beside the place and move it there whole; of two at once the first one stays."""
    part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    part.mkdir(parents=True)
    try:
        runtimes.implementation(runtime).prepare(source, precision, part, calibration)
        classes = source.classes or _classes(source)
        (part / FACTS).write_text(json.dumps({"classes": classes, "runtime": runtime}))
        if not folder.exists():
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _classes(source: Source) -> tuple[str, ...]:
    from workers.runtimes import networks

    return networks.detector(source)[1] if source.family == "yolo" else ()


def _key(source: Source, runtime: str, precision: str) -> str:
    text = json.dumps(
        [GENERATION, source.family, source.image_size, runtime, precision, _hash(source.weights)]
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _hash(weights: Path | None) -> str:
    if weights is None:
        return ""
    if not weights.is_file():
        raise NotFound(f"The weights {weights} are not there.")
    with weights.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
