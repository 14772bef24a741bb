"""Whether anything has changed: what pages ask before they ask for more."""

from __future__ import annotations

from fastapi import APIRouter

from app import premises
from app.edge import login, pools
from backend.projects import changes
from backend.projects.changes import Marks

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)


@router.get("/changes")
def marks(at: premises.At) -> Marks:
    """A mark for each thing that pages show; another mark means that it is not as it was."""
    with at.read() as session:
        return changes.marks(session)
