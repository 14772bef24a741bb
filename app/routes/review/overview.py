"""What a project is like at a glance: the home of each project."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app import premises
from app.edge import login, pools
from backend.labels import days, facts
from backend.review.overview import keeping, reading
from backend.review.overview.figures import Overview
from backend.review.overview.reading import Narrowed
from backend.storage import engine

router = APIRouter(
    prefix="/api/projects/{project}", dependencies=[login.SEES], route_class=pools.Pooled
)

SECONDS = 0.1  # one part takes longer; the page asks again for the others


@router.get("/overview")
@pools.heavy
def overview(
    project: str,
    at: premises.At,
    run: Annotated[int, Query(ge=0)] = 0,
    group: Annotated[list[str], Query()] = [],  # noqa: B006
    label: Annotated[str, Query(alias="class")] = "",
    data: Annotated[list[str], Query()] = [],  # noqa: B006
    since: str = "",
    until: str = "",
) -> Overview:
    """A project by one of its runs, the newest where none is named."""
    labels = (label,) if label else ()
    groups, said = tuple(filter(None, group)), facts.parse(filter(None, data))
    chosen = Narrowed(groups, days.day(since), days.day(until), labels, said)
    with at.read() as session:
        found = premises.project(session, project)
        run_ids = reading.runs(session, found.id, run)
    left = keeping.refresh(at.read, at.write, run_ids, SECONDS)
    with at.read() as session:
        engine.at_one_moment(session)  # or boards and their defects are of before and after a save
        return reading.read(session, found, run_ids, chosen, left)
