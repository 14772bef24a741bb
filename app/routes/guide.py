"""The guide, for everybody who may come in; who may not reads it where Loupe comes from."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from app import guide
from app.edge import pools

router = APIRouter(route_class=pools.Pooled)


@router.get("/guide")
def contents() -> Response:
    """What the guide has."""
    return HTMLResponse(guide.page())


@router.get("/guide/{page}")
def page(page: str) -> Response:
    """One page of it."""
    return HTMLResponse(guide.page(page))
