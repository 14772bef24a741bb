"""The measurement of a registry model on one split of the snapshot it was trained with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from backend.domain import Split
from backend.errors import Refused
from backend.jobs import kinds
from backend.services import registry
from workers import data, evaluating, recording
from workers.context import Context


def run(context: Context) -> Mapping[str, Any]:
    """Give the figures; those of the held-out split at the usual overlap stay with the model."""
    request = cast("kinds.Evaluate", context.request)
    with context.database.read() as session:
        model = registry.get(session, request.model_id)
    snapshot_id = request.snapshot_id or model.snapshot_id
    if snapshot_id is None:
        raise Refused(f"{model.name} was not trained here, so there is no snapshot to judge it by.")
    laid_out = data.lay_out(context, snapshot_id)
    snapshot = laid_out.set
    split = Split(request.split) if request.split else evaluating.held_out(snapshot)
    examples = snapshot.of(split)
    if not examples:
        raise Refused(f"The snapshot of {model.name} has no image in the split {split}.")
    weights = context.files.local_path(model.weights)
    seen = evaluating.look(model.family, weights, examples, snapshot.classes, context.progress)
    recording.keep(context, model, model.weights, laid_out, seen)
    figures = evaluating.report(model.family, seen, snapshot.classes, request.iou)
    figures = {**figures, "split": str(split)}
    if split == evaluating.held_out(snapshot) and request.iou == 0.5:
        with context.database.write.begin() as session:
            context.fence(session)
            registry.keep_evaluation(session, model.id, figures)
    return {"model": model.name, "model_id": model.id, **figures}
