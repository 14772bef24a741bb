"""Prepares a model for a runtime once and keeps it by content hash; loads it in any process."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from backend import apart
from backend.errors import Invalid, NotFound
from workers import runtimes
from workers.families.base import LoadedModel
from workers.runtimes import ModelSource

GENERATION = 8  # of what `prepare` writes; a change makes every model be prepared anew
FACTS = "prepared.json"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model ready to be loaded by a runtime; `key` names its content and how it is run."""

    key: str
    runtime: str
    precision: str
    source: ModelSource
    folder: Path


def prepare(
    source: ModelSource,
    cache: Path,
    runtime: str = "",
    precision: str = "",
    calibration: Sequence[Path] = (),
) -> Prepared:
    """Prepare the model, or find it prepared. An empty runtime or precision takes the best."""
    wanted = _wanted(source, cache, runtime, precision)
    if not (wanted.folder / FACTS).is_file():
        _fill(wanted, calibration)
    return _complete(wanted)


def prepare_apart(
    source: ModelSource,
    cache: Path,
    runtime: str = "",
    precision: str = "",
    calibration: Sequence[Path] = (),
) -> Prepared:
    """The same, for a process that stays: preparing takes torch and much memory."""
    wanted = _wanted(source, cache, runtime, precision)
    if (wanted.folder / FACTS).is_file():
        return _complete(wanted)
    with ProcessPoolExecutor(1, apart.context("spawn")) as process:
        return process.submit(prepare, source, cache, runtime, precision, calibration).result()


def load(prepared: Prepared, confidence: float = 0.25, threads: int = 1) -> LoadedModel:
    """The model in memory of this process."""
    code = runtimes.implementation(prepared.runtime)
    return code.load(prepared.folder, prepared.source, prepared.precision, confidence, threads)


def _wanted(source: ModelSource, cache: Path, runtime: str, precision: str) -> Prepared:
    """What is to be prepared, and where it is kept."""
    row = runtimes.find(runtime) if runtime else runtimes.best(source.family)
    if source.family not in row.families:
        raise Invalid(f"The runtime {row.name} does not run the family {source.family}.")
    if precision and precision not in row.precisions:
        raise Invalid(
            f"The runtime {row.name} does not compute in {precision}; it knows "
            f"{', '.join(row.precisions)}."
        )
    precision = runtimes.implementation(row.name).precision(precision, source.family)
    key = _key(source, row.name, precision)
    return Prepared(key, row.name, precision, source, cache / "prepared" / key[:32])


def _complete(wanted: Prepared) -> Prepared:
    """With the classes and the image size that the weights say."""
    facts = json.loads((wanted.folder / FACTS).read_text())
    classes, size = tuple(facts["classes"]), int(facts["image_size"])
    return replace(wanted, source=replace(wanted.source, classes=classes, image_size=size))


def _fill(wanted: Prepared, calibration: Sequence[Path]) -> None:
    """Prepare beside the place and move it there whole; of two at once the first one stays."""
    part = wanted.folder.with_name(f".{wanted.folder.name}.{uuid.uuid4().hex}")
    part.mkdir(parents=True)
    try:
        code = runtimes.implementation(wanted.runtime)
        classes, size = code.about(wanted.source)
        source = replace(wanted.source, classes=classes, image_size=size)
        code.prepare(source, wanted.precision, part, calibration)
        (part / FACTS).write_text(json.dumps({"classes": classes, "image_size": size}))
        if not wanted.folder.exists():
            part.rename(wanted.folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _key(source: ModelSource, runtime: str, precision: str) -> str:
    text = json.dumps(
        [
            GENERATION,
            source.family,
            source.classes,
            source.image_size,
            runtime,
            precision,
            _hash(source.weights),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _hash(weights: Path | None) -> str:
    if weights is None:
        return ""
    if not weights.is_file():
        raise NotFound(f"The weights {weights} are not there.")
    with weights.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
