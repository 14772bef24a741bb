"""What is taken away for good: a project, or the images of one that were put away."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from app.routes import job_cards
from app.routes.job_cards import JobCard
from backend.jobs import kinds, queue
from backend.upkeep import removal

router = APIRouter(
    prefix="/api/projects/{project}", dependencies=[login.RULES], route_class=pools.Pooled
)


class Removal(BaseModel):
    """The project's name, typed by whoever means it."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=200)


@dataclass(frozen=True, slots=True)
class ProjectRemains:
    """What would go with a project, in words, and how many of its images are put away."""

    words: str
    put_away: int


@dataclass(frozen=True, slots=True)
class BroughtBack:
    """How many images are there again."""

    changed: int


@router.get("/remains")
def remains(project: str, at: premises.At) -> ProjectRemains:
    """What would go with the project, and how many of its images are put away."""
    with at.read() as session:
        found = premises.project(session, project)
        words = str(removal.remains(session, found.id))
        return ProjectRemains(words, removal.purgeable(session, found.id))


@router.post("/remove", status_code=201)
def remove(project: str, body: Removal, at: premises.At, person: login.Admin) -> JobCard:
    """Let nobody find the project any more; a worker takes its rows."""
    with at.write() as session:
        found = premises.project(session, project)
        removal.begin(session, found.id, body.name, person.name)
        request = kinds.Remove(None, found.id, found.name)
        return job_cards.whole(queue.enqueue(session, request, author=person.name))


@router.post("/purge", status_code=201)
def purge(project: str, at: premises.At, person: login.Admin) -> JobCard:
    """Take away the images that were put away, for good; a worker does it."""
    with at.write() as session:
        found = premises.project(session, project)
        return job_cards.whole(queue.enqueue(session, kinds.Purge(found.id), author=person.name))


@router.post("/bring-back")
def bring_back(project: str, at: premises.At) -> BroughtBack:
    """Bring back all images that were put away."""
    with at.write() as session:
        found = premises.project(session, project)
        return BroughtBack(removal.bring_back(session, found.id))
