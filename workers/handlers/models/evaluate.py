"""The measurement of a registry model on one split of the snapshot it was trained with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from backend.domain import Model
from backend.errors import Refused
from backend.jobs import kinds
from backend.models import registry
from workers import data
from workers.context import Context
from workers.data import LaidOut
from workers.evaluation import appraisal, challenge, record
from workers.evaluation.appraisal import Appraisal


def run(context: Context) -> Mapping[str, Any]:
    """Give the figures; those of the held-out split at the usual overlap stay with the model."""
    request = cast("kinds.Evaluate", context.request)
    with context.database.read() as session:
        model = registry.get(session, request.model_id)
    snapshot_id = request.snapshot_id or model.snapshot_id
    if snapshot_id is None:
        raise Refused(f"{model.name} was not trained here, so there is no snapshot to judge it by.")
    laid_out = data.lay_out(context, snapshot_id)
    split, examples = appraisal.part(laid_out.set, request.split)
    weights = context.files.local_path(model.weights)
    share = (0.0, 0.5 if request.against else 1.0)
    tell = challenge.telling(context, share, model.name)
    classes = laid_out.set.classes
    seen = appraisal.look(model.family, weights, examples, classes, tell, laid_out.known(model))
    record.keep(context, model, model.weights, laid_out, seen)
    found = appraisal.report(model.family, seen, classes, request.iou)
    figures = record.opened(context, model.family, laid_out.kept(found)) | {"split": str(split)}
    record.measured(context, model.id, figures)
    against = _against(context, request, laid_out, seen)
    if split == appraisal.held_out(laid_out.set) and request.iou == 0.5:
        _keep(context, model, figures, against)
    words = {"verdict": challenge.verdict(model.name, against, laid_out)} if against else {}
    return {"model": model.name, "model_id": model.id, **figures, "against": against, **words}


def _against(
    context: Context, request: kinds.Evaluate, laid_out: LaidOut, seen: Appraisal
) -> Mapping[str, Any]:
    """How it stands beside the other model, if one is named."""
    if request.against is None:
        return {}
    with context.database.read() as session:
        other = registry.get(session, request.against)
    return challenge.against(context, other, laid_out, seen, (0.5, 1.0), request.iou)


def _keep(
    context: Context, model: Model, figures: Mapping[str, Any], against: Mapping[str, Any]
) -> None:
    with context.database.write.begin() as session:
        context.fence(session)
        registry.keep_evaluation(session, model.id, figures)
        if against:
            registry.keep_against(session, model.id, against)
