"""How a fresh model stands: on the held-out pictures, and beside the champion on the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backend import families
from backend.domain import Model
from backend.models import registry, snapshots
from backend.storage.classes import figures as figures_
from workers.context import Context
from workers.data import LaidOut
from workers.evaluation import appraisal, record
from workers.evaluation.appraisal import Appraisal

MOST = 300
Share = tuple[float, float]


def measure(
    context: Context, model: Model, weights: str, laid_out: LaidOut, share: Share
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The figures of the model, and what is different from the champion's (nothing without one).

    Both are as they are kept: by the ids of classes.
    """
    begin, end = share
    middle = (begin + end) / 2
    seen, figures = judged(context, model, weights, laid_out, (begin, middle))
    return figures, beside_champion(context, model, laid_out, seen, (middle, end))


def judged(
    context: Context, model: Model, weights: str, laid_out: LaidOut, share: Share
) -> tuple[Appraisal, dict[str, Any]]:
    """What the model sees in the held-out pictures, kept as a run, and its figures."""
    split = appraisal.held_out(laid_out.set)
    path = context.files.local_path(weights)
    examples, classes = laid_out.set.of(split), laid_out.set.classes
    tell = telling(context, share, model.name)
    known = laid_out.set.classes  # what it has just learned, by these names
    seen = appraisal.look(model.family, path, examples, classes, tell, known)
    record.keep(context, model, weights, laid_out, seen)
    found = appraisal.report(model.family, seen, classes)
    figures = record.opened(context, model.family, laid_out.kept(found))
    return seen, figures | {"split": str(split)}


def beside_champion(
    context: Context, model: Model, laid_out: LaidOut, seen: Appraisal, share: Share
) -> dict[str, Any]:
    """How it stands beside the champion, where there is another one."""
    champion = _champion(context, model)
    if champion is None:
        return {}
    return against(context, champion, laid_out, seen, share)


def against(
    context: Context,
    other: Model,
    laid_out: LaidOut,
    ours: Appraisal,
    share: Share,
    iou: float = 0.5,
) -> dict[str, Any]:
    """How what was seen stands beside what another model of the project sees there."""
    classes = laid_out.set.classes
    tell = telling(context, share, other.name)
    path = context.files.local_path(other.weights)
    known = laid_out.known(other)
    theirs = appraisal.look(other.family, path, ours.examples, classes, tell, known)
    figures = laid_out.kept(appraisal.compare(other.family, ours, theirs, classes, iou))
    if families.answers_once(other.family):
        differing = appraisal.by_picture(ours, theirs, classes)
    else:
        differing = appraisal.by_image(ours, theirs, classes, iou)
    figures["images"] = [_with_id(row, laid_out) for row in differing[:MOST]]
    return {
        **figures,
        "run": context.job.id,
        "model": other.name,
        "model_id": other.id,
        "family": other.family,
        "compared": len(ours.examples),
        "learned": _learned(context, other, laid_out, ours),
    }


def verdict(name: str, against: Mapping[str, Any], laid_out: LaidOut) -> str:
    """What such a comparison says, in words."""
    return registry.compared(name, figures_.named(against, laid_out.names))


def telling(context: Context, share: Share, who: str) -> Callable[[float, str], None]:
    """Tells how far a part of the job is, and of whom."""
    begin, end = share
    return lambda part, text: context.progress(begin + part * (end - begin), f"{who}: {text}")


def _learned(context: Context, other: Model, laid_out: LaidOut, ours: Appraisal) -> int:
    """How many of the pictures the other model knows by heart."""
    if other.snapshot_id is None:
        return 0
    ids = [laid_out.ids[example.name] for example in ours.examples]
    with context.database.read() as session:
        return snapshots.learned(session, other.snapshot_id, ids)


def _champion(context: Context, model: Model) -> Model | None:
    with context.database.read() as session:
        champion = registry.champion(session, model.project_id)
    return None if champion is None or champion.id == model.id else champion


def _with_id(row: Mapping[str, Any], laid_out: LaidOut) -> dict[str, Any]:
    return {**row, "image_id": laid_out.ids[row["image"]]}
