"""What is taken away for good: a project, or the images of one that were put away."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from app.routes import shapes
from backend.jobs import kinds, queue
from backend.upkeep import removal

router = APIRouter(
    prefix="/api/projects/{project}", dependencies=[login.RULES], route_class=pools.Pooled
)


class Removal(BaseModel):
    """The project's name, typed by whoever means it."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=200)


@router.get("/remains")
def remains(project: str, at: premises.At) -> dict[str, Any]:
    """What would go with the project, and how many of its images are put away."""
    with at.read() as session:
        found = premises.project(session, project)
        told = removal.remains(session, found.id)
        put_away = removal.purgeable(session, found.id)
    return {**asdict(told), "words": str(told), "put_away": put_away}


@router.post("/remove", status_code=201)
def remove(project: str, body: Removal, at: premises.At, person: login.Admin) -> dict[str, Any]:
    """Let nobody find the project any more; a worker takes its rows."""
    with at.write() as session:
        found = premises.project(session, project)
        removal.begin(session, found.id, body.name, person.name)
        request = kinds.Remove(None, found.id, found.name)
        return shapes.job(queue.enqueue(session, request, author=person.name))


@router.post("/purge", status_code=201)
def purge(project: str, at: premises.At, person: login.Admin) -> dict[str, Any]:
    """Take away the images that were put away, for good; a worker does it."""
    with at.write() as session:
        found = premises.project(session, project)
        return shapes.job(queue.enqueue(session, kinds.Purge(found.id), author=person.name))


@router.post("/bring-back")
def bring_back(project: str, at: premises.At) -> dict[str, int]:
    """Bring back all images that were put away."""
    with at.write() as session:
        found = premises.project(session, project)
        return {"changed": removal.bring_back(session, found.id)}
