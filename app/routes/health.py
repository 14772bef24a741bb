"""How the site is: asked by monitors, who are nobody, so it says words and no names."""

from __future__ import annotations

import shutil

from fastapi import APIRouter
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse, Response

from app import premises
from app.edge import pools
from backend.errors import Unavailable
from backend.jobs import presence

router = APIRouter(route_class=pools.Pooled)

LEAST = 200_000_000  # bytes free, below which saves may soon fail
OK = "ok"


@router.get("/health")
def health(at: premises.At) -> Response:
    """503 where nothing can be saved; without a worker jobs wait, and all else goes on."""
    database, worker = _asked(at)
    disk = OK if _room(at) >= LEAST else "full"
    well = database == disk == OK
    told = {"ok": well, "database": database, "disk": disk, "worker": worker}
    return JSONResponse(told, 200 if well else 503)


def _asked(at: premises.Premises) -> tuple[str, str]:
    try:
        with at.read() as session:
            return OK, OK if presence.living(session) else "none"
    except (SQLAlchemyError, Unavailable):
        return "away", "unknown"


def _room(at: premises.Premises) -> float:
    try:
        return shutil.disk_usage(at.settings.home).free
    except OSError:
        return 0
