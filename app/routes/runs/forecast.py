"""What a detection will take and cost, before it starts; and what a run could not look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from app import premises
from app.edge import login, pools
from app.routes.runs.detection import DetectionForm
from backend.errors import NotFound
from backend.models import choice, registry
from backend.models.evaluations import RuntimeWorth
from backend.runs import documents, forecast, known_images, mistakes
from backend.runs.forecast import Pace
from backend.runs.known_images import Recall
from backend.runs.mistakes import Mistake
from backend.storage import findings

router = APIRouter(
    prefix="/api/projects/{project}/detect", dependencies=[login.SEES], route_class=pools.Pooled
)

MOST_REASONS = 200


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the runtimes and precisions of a model are worth, and what int8 costs, in words."""

    worth: Sequence[RuntimeWorth]
    int8: str
    model_id: int | None


@dataclass(frozen=True, slots=True)
class Foreseen(Recall):
    """How many images are known from an earlier run, and the pace that the others may have."""

    pace: Pace | None = None


@router.get("/expect/{name}")
def expect(project: str, name: str, at: premises.At) -> Expectation:
    """What the runtimes and precisions of a model are worth on validation pictures."""
    with at.read() as session:
        found = premises.project(session, project)
        if name != choice.GOLDEN:
            registry.find(session, found.id, name)  # no weights file of the server
        chosen = choice.choose(session, found.id, name)
        rows = forecast.worth(session, chosen)
        return Expectation(rows, forecast.loss(rows), chosen.model_id)


@router.get("/mistakes/{name}")
def mistakes_of(project: str, name: str, at: premises.At) -> list[Mistake]:
    """What a classifier got wrong when it was measured, what it was surest of first."""
    with at.read() as session:
        found = premises.project(session, project)
        return mistakes.of_model(session, found.id, registry.find(session, found.id, name).id)


@router.post("/recall")
@pools.heavy
def recall(
    project: str,
    body: DetectionForm,
    at: premises.At,
    person: login.Viewer,  # noqa: ARG001
) -> Foreseen:
    """How many of the images asked for the ledger knows; nothing is written."""
    with at.read() as session:
        found = premises.project(session, project)
        if body.model != choice.GOLDEN:
            registry.find(session, found.id, body.model)
        chosen = choice.choose(session, found.id, body.model)
        source = body.source.model_dump(exclude_none=True)
        options = body.options.model_dump(exclude_none=True)
        told = known_images.recall(session, found.id, chosen, source, options)
        pace = forecast.pace(session, found.id, chosen, options)
        return Foreseen(told.images, told.known, told.run_id, pace)


@router.get("/runs/{run}/failures")
def failures(project: str, run: int, at: premises.At) -> list[str]:
    """Why images of a run could not be looked at."""
    with at.read() as session:
        found = premises.project(session, project)
        if findings.get(session, run).project_id != found.id:
            raise NotFound(f"There is no run {run} in this project.")
        return documents.failures(session, run, MOST_REASONS)
