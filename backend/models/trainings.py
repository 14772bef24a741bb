"""Retraining as a page or a command asks for it: checked, frozen, numbered and queued at once."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from backend import families
from backend.domain import Job, Model, ModelState, Snapshot, Split
from backend.errors import Invalid, NotFound, Refused
from backend.jobs import kinds, queue
from backend.models import choice, preflight, registry, snapshots, tracked, usual
from backend.weights import start_weights, weight_header


@dataclass(frozen=True, slots=True)
class Started:
    """What a click on Retrain has made."""

    job: Job
    model: Model


@dataclass(frozen=True, slots=True)
class Launch:
    """What a training begins with: its parameters, the weights as a worker finds them, its data."""

    values: Mapping[str, Any]
    begin: str
    parent: Model | None
    snapshot: Snapshot


def retrain(
    session: Session,
    project_id: int,
    family: str,
    *,
    start: str = "",
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    author: str = "",
    key: str = "",
) -> Started:
    """Freeze a snapshot, number a model and queue its training, all or nothing.

    `start` is empty (the family's own start weights), "scratch", a model of the project (vN,
    champion) or a weights file. A golden model starts from nothing; there it names the detector
    whose evidence it takes in: the project's best one, unless it is "scratch". Of a second stage it
    names the detector that it stands behind.
    `parameters` are those of `workers.families.base.Parameters`; what a family does not know goes
    under "extra".
    """
    if key and (job := queue.by_key(session, "train", project_id, author, key)):
        return Started(job, registry.get(session, int(job.request["model_id"])))
    queue.refuse_waiting(session, "train", project_id=project_id)
    ready = prepare(session, project_id, family, start, parameters, seed, author)
    model = number(session, family, ready, start, author)
    request = kinds.Train(
        project_id, model.id, ready.snapshot.id, family, ready.begin, ready.values
    )
    job = queue.enqueue(session, request, author=author, key=key)
    registry.set_job(session, model.id, job.id)
    if tracked.wanted():
        tracked.follow(
            session, project_id, job.id, model.name, model=model, parameters=model.parameters
        )
    return Started(job, registry.get(session, model.id))


def prepare(
    session: Session,
    project_id: int,
    family: str,
    start: str,
    parameters: Mapping[str, Any] | None,
    seed: int | None,
    author: str,
) -> Launch:
    """Check what is asked, and freeze what is learned from."""
    known = usual_seed(session, project_id, family, start) if seed is None else seed
    chosen = random.randrange(2**31) if known is None else known
    said = parameters or {}
    defaults = usual.parameters(session, project_id, family, str(said.get("variant", "")))
    values = {**defaults, **said, "seed": chosen}
    begin = _start(session, project_id, family, start, values)
    parent = _parent(session, project_id, start)
    preflight.refuse(preflight.check(session, project_id, family, values, chosen, start))
    return Launch(values, begin, parent, snapshots.freeze(session, project_id, chosen, author))


def number(session: Session, family: str, ready: Launch, start: str, author: str) -> Model:
    """The model that will come of it, still to be trained."""
    return registry.add(
        session,
        ready.snapshot.project_id,
        family,
        classes=ready.snapshot.classes,
        snapshot_id=ready.snapshot.id,
        parameters={**ready.values, "start": ready.parent.name if ready.parent else start},
        parent=ready.parent,
        author=author,
    )


def usual_seed(session: Session, project_id: int, family: str, start: str) -> int | None:
    """The one that holds out what was held out from the champion, or from a detector that is asked.

    None for the first model: there chance decides.
    """
    needs_golden = families.find(family).needs_golden
    asked = _asked(session, project_id, start) if needs_golden else None
    before = asked or registry.champion(session, project_id)
    if before is None or before.snapshot_id is None:
        return None
    return snapshots.get(session, before.snapshot_id).seed


def evaluate(
    session: Session,
    project_id: int,
    model: str,
    *,
    split: str = "",
    iou: float = 0.5,
    against: str = "",
    author: str = "",
) -> Job:
    """Queue the measurement of a model on one split of the snapshot it was trained with.

    Without a split it is the held-out one: test, or validation where there is no test split.
    `against` names another model to be compared with on the same images.
    """
    _check_measure(split, iou)
    chosen = _ready(session, project_id, model)
    other = _ready(session, project_id, against) if against else None
    if other is not None and other.id == chosen.id:
        raise Invalid(f"{chosen.name} cannot be compared with itself; name another model.")
    request = kinds.Evaluate(
        project_id, chosen.id, chosen.snapshot_id, split, iou, other.id if other else None
    )
    return queue.enqueue(session, request, author=author)


def judge(
    session: Session,
    project_id: int,
    file: str,
    name: str,
    *,
    model: str = "",
    split: str = "",
    iou: float = 0.5,
    author: str = "",
) -> Job:
    """Queue the measurement of what another program found or answered, stored as `file`.

    It is judged by the images that were held out from `model`, else from the champion, and stands
    beside it; in a project without a model by those that the next training would hold out.
    """
    _check_measure(split, iou)
    chosen = registry.champion(session, project_id)
    if model:
        chosen = _ready(session, project_id, model)
    if chosen is None or chosen.snapshot_id is None:
        snapshot_id, chosen = snapshots.freeze(session, project_id, 0, author).id, None
    else:
        snapshot_id = chosen.snapshot_id
    beside = chosen.id if chosen else None
    request = kinds.Judge(project_id, snapshot_id, file, name, beside, split, iou)
    return queue.enqueue(session, request, author=author)


def _check_measure(split: str, iou: float) -> None:
    if not 0.0 < iou < 1.0:
        raise Invalid(f"The overlap (IoU) must lie between 0 and 1, not be {iou:g}.")
    if split not in ("", *Split):
        raise Invalid(f"There is no split {split!r}; there are train, val and test.")


def benchmark(session: Session, project_id: int, model: str, author: str = "") -> Job:
    """Queue the measurement of a model's speed and worth in each runtime of the worker."""
    chosen = _ready(session, project_id, model)
    return queue.enqueue(session, kinds.Benchmark(project_id, chosen.id), author=author)


def _ready(session: Session, project_id: int, model: str) -> Model:
    chosen = registry.find(session, project_id, model)
    if chosen.state is not ModelState.READY:
        raise Refused(f"{chosen.name} is not ready, so it cannot be measured.")
    return chosen


def _start(
    session: Session, project_id: int, family: str, start: str, values: dict[str, Any]
) -> str:
    """The weights as the worker finds them: a stored hash, a file, or nothing."""
    chosen = families.find(family)
    if chosen.needs_golden:
        found = _partner(session, project_id, start, values)
        if chosen.behind and not found:
            raise Refused(preflight.NO_DETECTOR)
        return found
    if start in ("", preflight.SCRATCH):
        if start == preflight.SCRATCH:
            values["extra"] = {**values.get("extra", {}), "from_scratch": True}
        return ""
    if start.endswith(start_weights.SUFFIXES):
        path = Path(start).resolve()
        if not path.is_file():
            raise NotFound(f"There is no weights file {start}.")
        if (theirs := weight_header.family(path)) not in ("", family):
            raise Refused(f"The weights {path.name} are of the family {theirs}, not of {family}.")
        return str(path)
    model = registry.find(session, project_id, start)
    if model.family != family:
        raise Refused(
            f"{model.name} is a {model.family} model, so a {family} cannot start from it."
        )
    if model.state is not ModelState.READY:
        raise Refused(f"{model.name} is not ready, so nothing can start from it.")
    return model.weights


def _parent(session: Session, project_id: int, start: str) -> Model | None:
    """The model that it begins from or asks, if one is named."""
    if start in ("", preflight.SCRATCH) or start.endswith(start_weights.SUFFIXES):
        return None
    return registry.find(session, project_id, start)


def _partner(session: Session, project_id: int, start: str, values: dict[str, Any]) -> str:
    """The weights of the detector that a model asks and carries, which is noted under extra."""
    if start.endswith(start_weights.SUFFIXES):
        path = Path(start).resolve()
        name, family, weights = path.name, choice.family_of(path), str(path)
    else:
        model = _asked(session, project_id, start)
        if model is None:
            return ""
        if model.state is not ModelState.READY:
            raise Refused(f"{model.name} is not ready, so it cannot be asked.")
        name, family, weights = model.name, model.family, model.weights
    if family not in (detectors := families.detectors()):
        raise Refused(f"{name} is no detector ({', '.join(detectors)}) that could be asked.")
    values["extra"] = {**values.get("extra", {}), "partner": {"name": name, "family": family}}
    return weights


def _asked(session: Session, project_id: int, start: str) -> Model | None:
    """The model that another one asks: the one that is named, else the best detector."""
    if start == preflight.SCRATCH or start.endswith(start_weights.SUFFIXES):
        return None
    if start:
        return registry.find(session, project_id, start)
    return registry.best(session, project_id, families.detectors())
