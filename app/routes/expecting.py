"""What a detection will take and cost, before it starts; and what a run could not look at."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from app import house, login
from backend.errors import NotFound
from backend.services import detecting, documents, expecting, registry
from backend.storage import warehouse

router = APIRouter(prefix="/api/projects/{project}/detect", dependencies=[login.SEES])

MOST_REASONS = 200


@router.get("/expect/{name}")
def expect(project: str, name: str, at: house.At) -> dict[str, Any]:
    """How fast runs of a model were, and what its precisions are worth on validation pictures."""
    with at.read() as session:
        found = house.project(session, project)
        if name != detecting.GOLDEN:
            registry.find(session, found.id, name)  # no weights file of the server
        chosen = detecting.choose(session, found.id, name)
        rows = expecting.worth(session, chosen)
        return {
            "paces": [asdict(one) for one in expecting.paces(session, found.id, chosen)],
            "worth": rows,
            "int8": expecting.loss(rows),
            "model_id": chosen.model_id,
        }


@router.get("/runs/{run}/failures")
def failures(project: str, run: int, at: house.At) -> list[str]:
    """Why images of a run could not be looked at."""
    with at.read() as session:
        found = house.project(session, project)
        if warehouse.get(session, run).project_id != found.id:
            raise NotFound(f"There is no run {run} in this project.")
        return documents.failures(session, run, MOST_REASONS)
