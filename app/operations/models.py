"""Models: trained, and listed with what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field

from app import premises
from app.operations import jobs
from app.operations.jobs import Job
from app.operations.operation import Asked, Desk, Operation
from app.routes.runs.detection import own_model
from backend import domain, spaces
from backend.domain import ModelState, Role
from backend.models import registry, trainings


@dataclass(frozen=True, slots=True)
class Model:
    """A trained version; `metrics` are those of its held-out images."""

    id: int
    name: str
    family: str
    state: ModelState
    champion: bool
    classes: Sequence[str]
    job: int | None
    at: datetime
    metrics: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelList:
    """The models of a project, the newest first."""

    items: Sequence[Model]


@dataclass(frozen=True, slots=True)
class Training:
    """A training that was asked for, and the model that will come of it."""

    job: Job
    model: Model


class NewTraining(Asked):
    """What to train, and from what: empty (the family's own weights), `scratch`, `vN`, `champion`.

    `parameters` are those of the family, as `loupe train --set` takes them.
    """

    family: str = Field(max_length=40)
    start: str = Field("", max_length=100)
    parameters: dict[str, int | float | str] = Field(default_factory=dict, max_length=30)
    seed: int | None = Field(None, ge=0, le=2**31 - 1)


def models(desk: Desk, project: str) -> ModelList:
    """The models of a project, with their figures."""
    found = premises.project(desk.session, project)
    return ModelList([_model(one) for one in registry.models(desk.session, found.id)])


def train(desk: Desk, project: str, asked: NewTraining) -> Training:
    """Freeze the labels, number a model and queue its training."""
    found = premises.project(desk.session, project)
    own = {one.name for one in spaces.knobs(asked.family)}
    knobs = {name: value for name, value in asked.parameters.items() if name in own}
    plain = {name: value for name, value in asked.parameters.items() if name not in own}
    started = trainings.retrain(
        desk.session,
        found.id,
        asked.family,
        start=own_model(asked.start),
        parameters=spaces.turned(asked.family, plain, knobs),
        seed=asked.seed,
        author=desk.person.name,
    )
    return Training(jobs.shown(started.job), _model(started.model))


OF = "/projects/{project}"
OPERATIONS = (
    Operation("GET", f"{OF}/models", Role.VIEWER, models, {"project": "boards"}),
    Operation(
        "POST",
        f"{OF}/train",
        Role.LABELER,
        train,
        {"project": "boards", "family": "yolo", "parameters": {"epochs": 30}},
    ),
)


def _model(one: domain.Model) -> Model:
    return Model(
        id=one.id,
        name=one.name,
        family=one.family,
        state=one.state,
        champion=one.champion,
        classes=list(dict.fromkeys(one.classes)),
        job=one.job_id,
        at=one.at,
        metrics=one.metrics,
    )
