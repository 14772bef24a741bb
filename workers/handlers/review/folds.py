"""What models find that are trained in turns: each on all parts of the labels but one, which it
then looks at. So nobody is asked about a label that it has learned from.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from backend.domain import Split
from backend.jobs import kinds
from workers import data
from workers.context import Context
from workers.data import LaidOut
from workers.evaluation import appraisal
from workers.families import base
from workers.families.base import Crossing, Detections, Example, Parameters, TrainingSet
from workers.handlers.models import train

LOOKING = 0.3  # of the time of a part
JUDGES = 10  # one group of so many judges the epochs of a training


@dataclass(frozen=True, slots=True)
class PartReporter:
    """What a training of one part tells: its whole is a part of the job's."""

    context: Context
    begin: float
    share: float
    name: str

    def progress(self, fraction: float, message: str) -> None:
        """How far the part is."""
        self.context.progress(self.begin + fraction * self.share, f"{self.name}: {message}")

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """The job has no curves, as each part would have its own."""

    def log(self, text: str) -> None:
        """A line for the job's story."""
        self.context.log(f"{self.name}: {text}")


def found(context: Context, request: kinds.Doubts) -> dict[int, Detections]:
    """What was found in each image, by its id; parts that an earlier attempt has done are kept."""
    laid_out = data.lay_out(context, request.snapshot_id)
    parts = in_parts([_key(one) for one in laid_out.set.examples], request.folds)
    family = base.implementation(request.family)
    if isinstance(family, Crossing):
        return _crossed(context, family, laid_out, parts)
    # What was found before a merge of classes numbers them otherwise.
    root = train.same_classes(context.folder / "parts", laid_out)
    answers: dict[int, Detections] = {}
    for part in range(request.folds):
        answers |= _part(context, request, laid_out, parts, part, root / f"part {part}")
    return answers


def in_parts(keys: Sequence[str], parts: int) -> list[int]:
    """The part of each image: those of one key stay together, the largest keys are dealt first."""
    sizes, counts = [0] * parts, Counter(keys)
    chosen: dict[str, int] = {}
    for key in sorted(counts, key=lambda one: (-counts[one], one)):
        chosen[key] = sizes.index(min(sizes))
        sizes[chosen[key]] += counts[key]
    if 0 in sizes:  # fewer groups than parts: then each picture for itself
        return [number % parts for number in range(len(keys))]
    return [chosen[key] for key in keys]


def _crossed(
    context: Context, family: Crossing, laid_out: LaidOut, parts: Sequence[int]
) -> dict[int, Detections]:
    """All parts at once; what is refused is not told of."""
    examples = tuple(replace(one, split=Split.TRAIN) for one in laid_out.set.examples)
    whole = TrainingSet(laid_out.set.classes, examples)
    answers = family.crossed(whole, parts, 0, PartReporter(context, 0.0, 0.95, "All parts"))
    pairs = zip(examples, answers, strict=True)
    return {laid_out.ids[one.name]: found for one, found in pairs if isinstance(found, np.ndarray)}


def _part(
    context: Context,
    request: kinds.Doubts,
    laid_out: LaidOut,
    parts: Sequence[int],
    part: int,
    folder: Path,
) -> dict[int, Detections]:
    examples = laid_out.set.examples
    held = [one for one, where in zip(examples, parts, strict=True) if where == part]
    file = folder.with_suffix(".npz")
    if not file.is_file():
        folder.mkdir(exist_ok=True)
        _keep(file, _looked(context, request, laid_out, parts, part, folder))
    shutil.rmtree(folder, ignore_errors=True)
    ids = [laid_out.ids[one.name] for one in held]
    with np.load(file) as kept:
        return {ids[int(at)]: kept[at] for at in kept.files}


def _looked(
    context: Context,
    request: kinds.Doubts,
    laid_out: LaidOut,
    parts: Sequence[int],
    part: int,
    folder: Path,
) -> Mapping[str, Detections]:
    """Train on the other parts, and look at this one; what is refused is not told of."""
    examples, share = laid_out.set.examples, 0.95 / request.folds
    name = f"Part {part + 1} of {request.folds}"
    teller = PartReporter(context, part * share, share * (1 - LOOKING), name)
    family = base.implementation(request.family)
    rest = [one for one, where in zip(examples, parts, strict=True) if where != part]
    others = TrainingSet(laid_out.set.classes, tuple(_with_judges(rest)))
    start = Path(request.start) if request.start else None
    trained = family.train(others, start, Parameters(**request.parameters), teller, folder)
    held = [one for one, where in zip(examples, parts, strict=True) if where == part]
    begin = part * share + share * (1 - LOOKING)
    looker = PartReporter(context, begin, share * LOOKING, name)
    classes = laid_out.set.classes
    seen = appraisal.look(request.family, trained.weights, held, classes, looker.progress, classes)
    return {
        str(at): rows
        for at, (one, rows) in enumerate(zip(held, seen.detections, strict=True))
        if one.name not in seen.refused
    }


def _keep(file: Path, looked: Mapping[str, Detections]) -> None:
    """Whole or not at all."""
    beside = file.with_suffix(".part.npz")
    np.savez(beside, **looked)  # type: ignore[arg-type]
    beside.replace(file)


def _with_judges(examples: Sequence[Example]) -> list[Example]:
    """Some judge the epochs, unless there is one alone; the others are learned from."""
    if len(examples) < 2:
        return [replace(one, split=Split.TRAIN) for one in examples]
    judging = in_parts([_key(one) for one in examples], min(JUDGES, len(examples)))
    splits = [Split.TRAIN if part else Split.VAL for part in judging]
    return [replace(one, split=to) for one, to in zip(examples, splits, strict=True)]


def _key(example: Example) -> str:
    return example.group or example.path.name
