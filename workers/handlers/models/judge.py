"""The measurement of what another program found, as that of a model of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from backend.domain import Detection, Run, Task
from backend.errors import Refused
from backend.formats import predictions
from backend.jobs import kinds
from backend.models import registry
from backend.projects import catalogue
from workers import data
from workers.context import Context
from workers.data import LaidOut
from workers.evaluation import appraisal, challenge, metrics, record
from workers.evaluation.appraisal import Appraisal
from workers.families.base import NOTHING, Detections, Example

IMPORTED, ANSWERED = "imported", "classifier"
UNSURE = 1e-6


def run(context: Context) -> Mapping[str, Any]:
    """Give the figures, kept as a run that a person can look at."""
    request = cast("kinds.Judge", context.request)
    laid_out = data.lay_out(context, request.snapshot_id)
    split, examples = appraisal.part(laid_out.set, request.split)
    whole = _has_classes(context, request)
    look = _answered if whole else _seen
    seen, left_out = look(context, request, laid_out, examples)
    made = Run(
        id=context.job.id, model=request.name, family=ANSWERED if whole else IMPORTED,
        at=context.job.at,
        project_id=request.project_id, purpose=record.PURPOSE, author=context.job.author,
        source={"images": len(seen.examples)},
    )  # fmt: skip
    record.write(context, made, laid_out, seen)
    found = laid_out.kept(_figures(seen, laid_out.set.classes, request.iou, whole))
    told = {**record.opened(context, made.family, found), "split": str(split), **left_out}
    record.measured(context, None, told)
    return {"model": request.name, **told, **_against(context, request, laid_out, seen)}


def _has_classes(context: Context, request: kinds.Judge) -> bool:
    """Whether the project's pictures have one class each."""
    with context.database.read() as session:
        return catalogue.get(session, request.project_id or 0).task is Task.CLASSIFY


def _figures(
    seen: Appraisal, classes: tuple[str, ...], iou: float, whole: bool
) -> Mapping[str, Any]:
    if not whole:
        return metrics.report(appraisal.judged(seen, classes), classes, iou)
    return appraisal.report_classified(seen, classes, chances=False)


def _answered(
    context: Context, request: kinds.Judge, laid_out: LaidOut, examples: tuple[Example, ...]
) -> tuple[Appraisal, Mapping[str, Any]]:
    """One answer a picture; those without one are not judged, and counted."""
    classes = laid_out.set.classes
    images = {example.name: laid_out.ids[example.name] for example in examples}
    path = context.files.local_path(request.file)
    read = predictions.read_classes(path, images, classes, request.name, laid_out.names.today)
    if not read.found:
        raise Refused(
            f"{request.name} names no class of this project for any of the {len(images)} images "
            f"that it is judged by, as {next(iter(images))}."
        )
    named = tuple(example for example in examples if example.name in read.found)
    rows = tuple(_whole(example, read.found[example.name][0], classes) for example in named)
    counts = {
        "strange_images": read.strange_images,
        "strange_classes": read.strange_classes,
        "unanswered": len(examples) - len(named),
    }
    return Appraisal(named, rows, {}), counts


def _whole(example: Example, answer: Detection, classes: tuple[str, ...]) -> Detections:
    """An answer of which its program is not sure at all is an answer, too."""
    place, score = classes.index(answer.label), max(answer.score, UNSURE)
    return np.array([(0, 0, example.width, example.height, score, place)], np.float32)


def _seen(
    context: Context, request: kinds.Judge, laid_out: LaidOut, examples: tuple[Example, ...]
) -> tuple[Appraisal, Mapping[str, int]]:
    classes = laid_out.set.classes
    images = {example.name: laid_out.ids[example.name] for example in examples}
    path = context.files.local_path(request.file)
    read = predictions.read(path, images, classes, request.name, laid_out.names.today)
    if not read.found:
        raise Refused(
            f"{request.name} has no box of a class of this project in any of the {len(images)} "
            f"images that it is judged by, as {next(iter(images))}."
        )
    rows = tuple(_rows(read.found.get(example.name, []), classes) for example in examples)
    counts = {"strange_images": read.strange_images, "strange_classes": read.strange_classes}
    return Appraisal(examples, rows, {}), counts


def _rows(found: list[Detection], classes: tuple[str, ...]) -> Detections:
    rows = [(d.x1, d.y1, d.x2, d.y2, d.score, classes.index(d.label)) for d in found]
    best_first = sorted(rows, key=lambda row: -row[4])
    return np.array(best_first, np.float32) if rows else NOTHING


def _against(
    context: Context, request: kinds.Judge, laid_out: LaidOut, seen: Appraisal
) -> Mapping[str, Any]:
    """How it stands beside the model whose snapshot it is judged by, if there is one."""
    if request.model_id is None:
        return {"against": {}}
    with context.database.read() as session:
        other = registry.get(session, request.model_id)
    against = challenge.against(context, other, laid_out, seen, (0.0, 1.0), request.iou)
    return {"against": against, "verdict": challenge.verdict(request.name, against, laid_out)}
