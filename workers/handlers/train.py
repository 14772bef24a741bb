"""A training: lay out the snapshot, train, keep the weights, measure, stand in the registry."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from backend.domain import Model, Split
from backend.jobs import holder, kinds
from backend.services import preflight, registry
from workers import cluster, data, evaluating, tracking
from workers.context import Context
from workers.evaluating import Seen
from workers.models import base
from workers.models.base import Parameters, Trained, TrainingSet

TRAINED = 0.9


@dataclass(frozen=True, slots=True)
class Part:
    """The reporter of the training proper: its whole is a part of the job's."""

    context: Context
    end: float

    def progress(self, fraction: float, message: str) -> None:
        """How far the training is."""
        self.context.progress(fraction * self.end, message)

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """A point of every curve."""
        self.context.epoch(epoch, epochs, figures)

    def log(self, text: str) -> None:
        """A line for the job's story."""
        self.context.log(text)


def run(context: Context) -> Mapping[str, Any]:
    """Train; a second attempt finds this one's checkpoints in the job's folder."""
    request = cast("kinds.Train", context.request)
    began = time.monotonic()
    snapshot = data.lay_out(context, request.snapshot_id)
    parameters = Parameters(**request.parameters)
    trained = _train(context, request, snapshot, parameters)
    seconds = time.monotonic() - began
    weights = context.files.put_file(trained.weights)
    evaluation, against = _measure(context, request, snapshot, trained.weights)
    provenance = _provenance(context, request, trained, seconds)
    with context.database.write.begin() as session:
        context.fence(session)
        model = registry.complete(
            session, request.model_id, weights, evaluation, against=against, provenance=provenance
        )
        verdict = registry.verdict(registry.details(session, model.id))
    context.log(verdict)
    tracking.record(context, model, trained.weights, provenance)
    return {
        "model": model.name,
        "model_id": model.id,
        "family": model.family,
        "metrics": dict(model.metrics),
        "verdict": verdict,
        "seconds": round(seconds, 1),
        "work": preflight.amount(len(snapshot.of(Split.TRAIN)), {**request.parameters}),
    }


def _train(
    context: Context, request: kinds.Train, snapshot: TrainingSet, parameters: Parameters
) -> Trained:
    if parameters.workers > 1 or context.settings.ray_address:
        cluster.join(context)
    folder = context.folder / "training"
    folder.mkdir(exist_ok=True)
    family = base.implementation(request.family)
    start = _start(context, request.start)
    return family.train(snapshot, start, parameters, Part(context, TRAINED), folder)


def _start(context: Context, start: str) -> Path | None:
    if not start:
        return None
    return Path(start) if "/" in start or "." in start else context.files.local_path(start)


def _measure(
    context: Context, request: kinds.Train, snapshot: TrainingSet, weights: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The model on the held-out pictures, and the champion on the same ones."""
    split = evaluating.held_out(snapshot)
    examples = snapshot.of(split)

    def tell(fraction: float, message: str) -> None:
        context.progress(TRAINED + fraction * (1 - TRAINED) / 2, message)

    ours = evaluating.look(request.family, weights, examples, snapshot.classes, tell)
    figures = evaluating.report(request.family, ours, snapshot.classes)
    against = _against(context, request, snapshot, ours)
    return {**figures, "split": str(split)}, against


def _against(
    context: Context, request: kinds.Train, snapshot: TrainingSet, ours: Seen
) -> dict[str, Any]:
    champion = _champion(context, request)
    if champion is None:
        return {}
    middle = (1 + TRAINED) / 2

    def tell(fraction: float, message: str) -> None:
        part = fraction * (1 - middle)
        context.progress(middle + part, f"{champion.name}, the champion: {message}")

    weights = context.files.local_path(champion.weights)
    theirs = evaluating.look(champion.family, weights, ours.examples, snapshot.classes, tell)
    figures = evaluating.compare(request.family, ours, theirs, snapshot.classes)
    return {**figures, "model": champion.name, "model_id": champion.id}


def _champion(context: Context, request: kinds.Train) -> Model | None:
    if request.project_id is None:
        return None
    with context.database.read() as session:
        champion = registry.champion(session, request.project_id)
    return None if champion is None or champion.id == request.model_id else champion


def _provenance(
    context: Context, request: kinds.Train, trained: Trained, seconds: float
) -> dict[str, Any]:
    """What one must know to trust the model, or to make it again."""
    return {
        "job": context.job.id,
        "attempts": context.job.attempt,
        "snapshot": request.snapshot_id,
        "start": request.start,
        "parameters": dict(request.parameters),
        "seconds": round(seconds, 1),
        "machine": holder.parts(context.job.worker)[0],
        "cores": os.cpu_count(),
        "devices": evaluating.device(),
        "cluster": context.settings.ray_address or "this machine",
        "figures": dict(trained.figures),
    }
