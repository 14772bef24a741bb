"""Whether anything has changed: what pages ask before they ask for more."""

from __future__ import annotations

from fastapi import APIRouter

from app import house, login, pools
from backend.services import changes

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)


@router.get("/changes")
def marks(at: house.At) -> dict[str, str]:
    """A mark for each thing that pages show; another mark means that it is not as it was."""
    with at.read() as session:
        return changes.marks(session)
