"""A training: lay out the snapshot, train, keep the weights, measure, stand in the registry."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from backend import version
from backend.domain import Split
from backend.jobs import holder, kinds
from backend.models import measurements, preflight, registry
from workers import cards, cluster, data, load
from workers.context import Context
from workers.data import LaidOut
from workers.evaluation import challenge
from workers.families import base
from workers.families.base import Parameters, Trained
from workers.training import places, tensorboard

TRAINED = 0.9


@dataclass(frozen=True, slots=True)
class TrainingReporter:
    """The reporter of the training proper: its whole is a part of the job's."""

    context: Context
    board: tensorboard.Board

    def progress(self, fraction: float, message: str) -> None:
        """How far the training is; before its first picture, where it goes on is not known yet."""
        self.context.progress(fraction * TRAINED or None, message)

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """A point of every curve, with how busy this machine was since the last one."""
        self.context.epoch(epoch, epochs, {**figures, **load.now()})
        self.board.epoch(epoch, figures)

    def log(self, text: str) -> None:
        """A line for the job's story."""
        self.context.log(text)


def run(context: Context) -> Mapping[str, Any]:
    """Train; a second attempt finds this one's checkpoints in the job's folder."""
    request = cast("kinds.Train", context.request)
    began = time.monotonic()
    laid_out = data.lay_out(context, request.snapshot_id)
    trained = _train(context, request, laid_out)
    seconds = time.monotonic() - began
    stored = context.files.put_file(trained.weights)
    with context.database.read() as session:
        model = registry.get(session, request.model_id)
    evaluation, against = challenge.measure(context, model, stored, laid_out, (TRAINED, 1.0))
    provenance = {
        **provenance_of(context, request.snapshot_id, request.start),
        "parameters": dict(request.parameters),
        **({"seconds": round(seconds, 1)} if context.job.attempt == 1 else {}),
        "figures": dict(trained.figures),
    }
    with context.database.write.begin() as session:
        context.fence(session)
        model = registry.complete(
            session,
            model.id,
            stored,
            evaluation,
            against=against,
            provenance=provenance,
            classes=laid_out.classes,
        )
        measurements.keep(session, context.job.id, model.id, evaluation)
        if _takes_over(request, against):
            model = registry.promote(session, model.id)
        verdict = registry.verdict(registry.details(session, model.id))
    context.log(verdict)
    return {
        "model": model.name,
        "model_id": model.id,
        "family": model.family,
        "metrics": {name: evaluation[name] for name in model.metrics},
        "verdict": verdict,
        "seconds": round(seconds, 1),
        "work": preflight.amount(len(laid_out.set.of(Split.TRAIN)), request.parameters),
    }


def _train(context: Context, request: kinds.Train, laid_out: LaidOut) -> Trained:
    parameters = Parameters(**request.parameters)
    joined = parameters.workers > 1 or context.settings.ray_address
    ray = cluster.join(context) if joined else None
    context.progress(None, "Reading the libraries that train")
    folder = same_classes(context.folder / "training", laid_out)
    family = base.implementation(request.family)
    start = started_from(context, request.start, laid_out)
    say_where(context, ray, parameters.workers)
    with tensorboard.opened(context, request.model_id) as board:
        reporter = TrainingReporter(context, board)
        return family.train(laid_out.set, start, parameters, reporter, folder)


def say_where(context: Context, ray: Any, processes: int) -> None:
    """On which machines it trains, and with which code and libraries."""
    where = context.settings.ray_address or "this machine"
    made_by = {"cluster": where, "code": version.code(), "versions": _versions()}
    context.event("", {"about": places.about(ray, processes) | made_by})


def _takes_over(request: kinds.Train, against: Mapping[str, Any]) -> bool:
    """A model that grows by itself follows its golden champion where it is no worse."""
    grows = request.parameters.get("extra", {}).get("grows", False)
    difference = against.get("map50", {}).get("difference")
    same = against.get("family") == request.family
    return bool(grows and same and difference is not None and difference >= 0)


def same_classes(folder: Path, laid_out: LaidOut) -> Path:
    """Where the checkpoints are; those from before a merge of classes are of another network."""
    known, classes = folder / "classes.json", json.dumps([*laid_out.classes.values()])
    if known.is_file() and known.read_text() != classes:
        shutil.rmtree(folder)
    folder.mkdir(exist_ok=True)
    known.write_text(classes)
    return folder


def started_from(context: Context, start: str, laid_out: LaidOut) -> Path | None:
    """Start weights are a file, or the hash of a model, named as its classes are now."""
    if not start or Path(start).is_absolute():
        return Path(start) if start else None
    from workers.weights import weight_files  # and torch, which not every family needs

    path = context.files.local_path(start)
    with context.database.read() as session:
        model = registry.by_weights(session, context.request.project_id or 0, start)
    known = laid_out.known(model) if model else ()
    return weight_files.renamed(path, known, context.folder / "start.safetensors")


def provenance_of(context: Context, snapshot_id: int, start: str) -> dict[str, Any]:
    """What one must know to trust a model, or to make it again."""
    return {
        "job": context.job.id,
        "attempts": context.job.attempt,
        "snapshot": snapshot_id,
        "start": start,
        "machine": holder.parts(context.job.worker)[0],
        "cores": os.cpu_count(),
        "devices": cards.device(),
        "cluster": context.settings.ray_address or "this machine",
        "code": version.code(),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    names = ("loupe", "torch", "torchvision", "ultralytics", "ray", "numpy")
    return {name: metadata.version(name) for name in names}
