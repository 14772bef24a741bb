"""How the warehouse stands, as the Jobs page tells it; asks our own database alone."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from app import premises
from app.edge import login, pools
from backend.errors import Refused
from backend.warehouse import address, outbox, standing

router = APIRouter(prefix="/api/warehouse", dependencies=[login.SEES], route_class=pools.Pooled)


@router.get("")
def stands(at: premises.At) -> dict[str, Any]:
    """How it stands in sentences, and how many rows wait; nothing where there is none."""
    try:
        with at.read() as session:
            found = standing.of(session, at.settings)
    except Refused as wrong:  # a setting, or a file that it names
        return {"told": [str(wrong)], "waiting": 0, "failing": True}
    if found is None:
        return {"told": [], "waiting": 0, "failing": False}
    told = standing.sentences(found)
    return {"told": told, "waiting": found.waiting, "failing": bool(found.error)}


@router.post("")
def publish(at: premises.At, person: login.Labeler) -> dict[str, int]:  # noqa: ARG001
    """Let what waits be published at once."""
    if not address.is_set(at.settings):
        raise Refused(address.NONE)
    with at.write() as session:
        return {"rows": outbox.hurry(session)}
