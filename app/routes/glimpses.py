"""A glimpse of the project's pictures as a training would see them."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from app.routes import job_cards
from app.routes.job_cards import JobCard
from backend import spaces
from backend.errors import NotFound
from backend.jobs import kinds, queue
from backend.models import glimpses
from backend.models.glimpses import SeenPicture
from backend.projects import catalogue

router = APIRouter(
    prefix="/api/projects/{project}/training/glimpse",
    dependencies=[login.SEES],
    route_class=pools.Pooled,
)


class GlimpseForm(BaseModel):
    """What of a training changes its pictures."""

    model_config = ConfigDict(extra="forbid")
    family: str = Field(max_length=40)
    parameters: dict[str, int | float | str] = Field(default_factory=dict, max_length=30)
    knobs: dict[str, int | float | str] = Field(default_factory=dict, max_length=30)


@router.post("", status_code=201)
def ask(project: str, body: GlimpseForm, at: premises.At, person: login.Labeler) -> JobCard:
    """Queue a look at some pictures, changed as the training would change them."""
    with at.read() as session:
        found = premises.project(session, project)
        given = spaces.turned(body.family, body.parameters, body.knobs)
        request = glimpses.wanted(session, found.id, body.family, given)
    with at.write() as session:
        catalogue.get(session, found.id)  # it may be gone, or shut, by now
        return job_cards.whole(glimpses.ask(session, request, person.name))


@router.get("/{number}")
def seen(project: str, number: int, at: premises.At) -> list[SeenPicture]:
    """What was seen."""
    with at.read() as session:
        found = premises.project(session, project)
        job = queue.get(session, number)
    if job.kind != kinds.Glimpse.kind or job.project_id != found.id:
        raise NotFound(f"There is no glimpse {number} of this project.")
    return glimpses.read(job, at.settings.tries)
