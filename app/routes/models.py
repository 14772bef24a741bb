"""Retraining and the registry: what can be trained, what stands in the way, what each is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from app.routes import job_cards, model_cards
from app.routes.job_cards import JobCard
from app.routes.model_cards import ModelCard, ModelDetails
from app.routes.runs import detection
from backend import spaces
from backend.families import FAMILIES, Family
from backend.jobs import kinds, listing, outlook, queue
from backend.labels import images
from backend.models import growth, preflight, registry, trainings, usual
from backend.models.preflight import Preflight
from backend.models.scaling import scalings
from backend.models.scaling.scalings import ClusterBenchmark
from backend.spaces import Knob

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)

STRICT = ConfigDict(extra="forbid")
SHOWN = 5


class TrainingForm(BaseModel):
    """A training as the form has it.

    `knobs` are what the family has besides, as `backend.spaces` knows them. What else families
    take ("extra") may name files; it is for the command line alone.
    """

    model_config = STRICT
    family: str = Field(max_length=40)
    start: str = Field("", max_length=1000)
    parameters: dict[str, int | float | str] = Field(default_factory=dict, max_length=30)
    knobs: dict[str, int | float | str] = Field(default_factory=dict, max_length=30)
    seed: int | None = Field(None, ge=0, le=2**31 - 1)
    key: str = Field("", max_length=100)

    def given(self) -> dict[str, Any]:
        """All parameters."""
        return spaces.turned(self.family, self.parameters, self.knobs)


class Grow(BaseModel):
    """Whether the golden board learns by itself."""

    model_config = STRICT
    on: bool


class Measured(BaseModel):
    """A measurement to be made."""

    model_config = STRICT
    split: str = Field("", max_length=10)
    iou: float = 0.5
    against: str = Field("", max_length=20)


class Published(BaseModel):
    """The form that a model is to be written in."""

    model_config = STRICT
    runtime: str = Field("onnx", max_length=40)


@dataclass(frozen=True, slots=True)
class FamilyCard:
    """A kind of model, as the form offers it."""

    name: str
    title: str
    defaults: Mapping[str, Any]
    knobs: Sequence[Knob]
    variants: Sequence[str]
    needs_golden: bool
    behind: bool


@dataclass(frozen=True, slots=True)
class TrainingChoice:
    """What can be trained and from what, the trainings, and whether the golden board `grows`."""

    families: Sequence[FamilyCard]
    models: Sequence[ModelCard]
    jobs: Sequence[JobCard]
    grows: bool
    goldens: bool


@dataclass(frozen=True, slots=True)
class BegunTraining:
    """A training that was asked for, and the model that will come of it."""

    job: JobCard
    model: ModelCard


@router.get("/projects/{project}/training")
def form(project: str, at: premises.At, job: int = 0) -> TrainingChoice:
    """What can be trained here, what it may start from, and the trainings.

    Those are all that have not ended, the newest, and the one that `job` names.
    """
    with at.read() as session:
        found = premises.project(session, project)
        find = partial(listing.find, session, project_id=found.id, kind="train")
        shown = [
            *find(states=listing.OPEN),
            *find(limit=SHOWN),
            *find(before=job + 1, limit=1 if job else 0),
        ]
        jobs = list({one.id: one for one in sorted(shown, key=lambda one: -one.id)}.values())
        stands = outlook.outlooks(session, jobs)
        return TrainingChoice(
            [
                _family(one, usual.parameters(session, found.id, one.name))
                for one in FAMILIES.values()
                if one.task is found.task
            ],
            [model_cards.card(one) for one in registry.models(session, found.id)],
            [job_cards.listed(one, stands[one.id]) for one in jobs],
            growth.wanted(session, found.id),
            images.has_goldens(session, found.id),
        )


@router.put("/projects/{project}/training/grow")
def grow(project: str, body: Grow, at: premises.At, person: login.Labeler) -> Grow:  # noqa: ARG001
    """Let the golden board learn by itself after every tenth labelled image, or not."""
    with at.write() as session:
        growth.choose(session, premises.project(session, project).id, body.on)
    return body


@router.post("/projects/{project}/training/check")
@pools.heavy
def check(project: str, body: TrainingForm, at: premises.At) -> Preflight:
    """What stands in the way of this training, and about how long it would take."""
    with at.read() as session:
        found = premises.project(session, project)
        start = detection.own_model(body.start)
        usual = trainings.usual_seed(session, found.id, body.family, start)
        seed = (usual or 0) if body.seed is None else body.seed
        return preflight.check(session, found.id, body.family, body.given(), seed, start)


@router.post("/projects/{project}/training", status_code=201)
def retrain(
    project: str, body: TrainingForm, at: premises.At, person: login.Labeler
) -> BegunTraining:
    """Freeze a snapshot, number a model and queue its training."""
    with at.write() as session:
        found = premises.project(session, project)
        started = trainings.retrain(
            session,
            found.id,
            body.family,
            start=detection.own_model(body.start),
            parameters=body.given(),
            seed=body.seed,
            author=person.name,
            key=body.key,
        )
        return BegunTraining(job_cards.whole(started.job), model_cards.card(started.model))


@router.get("/projects/{project}/models")
def models(project: str, at: premises.At) -> list[ModelCard]:
    """The models of a project, newest first."""
    with at.read() as session:
        found = premises.project(session, project)
        return [model_cards.card(one) for one in registry.models(session, found.id)]


@router.get("/models/{model}")
def details(model: int, at: premises.At) -> ModelDetails:
    """All that is known of a model."""
    with at.read() as session:
        told = registry.details(session, model)
        champion = registry.champion(session, told.model.project_id)
    return model_cards.whole(told, champion)


@router.post("/models/{model}/promote")
def promote(model: int, at: premises.At, person: login.Admin) -> ModelCard:  # noqa: ARG001
    """Make a model the champion of its project."""
    with at.write() as session:
        return model_cards.card(registry.promote(session, model))


@router.post("/models/{model}/evaluate", status_code=201)
def evaluate(model: int, body: Measured, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue a measurement of a model."""
    with at.write() as session:
        found = registry.get(session, model)
        job = trainings.evaluate(
            session,
            found.project_id,
            found.name,
            split=body.split,
            iou=body.iou,
            against=body.against,
            author=person.name,
        )
        return job_cards.whole(job)


@router.post("/models/{model}/benchmark", status_code=201)
def benchmark(model: int, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue the measurement of a model in each runtime of the worker."""
    with at.write() as session:
        found = registry.get(session, model)
        job = trainings.benchmark(session, found.project_id, found.name, person.name)
        return job_cards.whole(job)


@router.get("/projects/{project}/benchmarks")
def benchmarks(
    project: str,
    at: premises.At,
    jobs: Annotated[list[int], Query(alias="job", default_factory=list, max_length=scalings.SHOWN)],
) -> list[ClusterBenchmark]:
    """What more processes brought, the newest first; tables of that one and of those named."""
    with at.read() as session:
        return scalings.of_project(session, premises.project(session, project).id, jobs)


@router.post("/models/{model}/publish", status_code=201)
def publish(model: int, body: Published, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue the export of a model for use outside of Loupe."""
    with at.write() as session:
        found = registry.get(session, model)
        request = kinds.Publish(found.project_id, found.id, body.runtime)
        return job_cards.whole(queue.enqueue(session, request, author=person.name))


def _family(one: Family, defaults: Mapping[str, Any]) -> FamilyCard:
    return FamilyCard(
        one.name,
        one.title,
        defaults,
        spaces.knobs(one.name),
        one.variants,
        one.needs_golden,
        one.behind,
    )
