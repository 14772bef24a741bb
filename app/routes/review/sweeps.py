"""The sweep of classified pictures: screens of one class, each picture before one person alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from app.routes.review import review_cards
from app.routes.review.review_cards import WallTile
from backend.domain import Role
from backend.review import sweeping, views
from backend.review.sweeping import After

router = APIRouter(prefix="/api/runs/{run}", dependencies=[login.SEES], route_class=pools.Pooled)


class SweepPlace(BaseModel):
    """The last picture of a screen."""

    model_config = ConfigDict(extra="forbid")
    score: float = Field(0.0, ge=0, le=1)
    image: int = Field(0, ge=0, lt=10**18)


class SweepWish(BaseModel):
    """Who wants the next screen of a class, and where the person stands."""

    model_config = ConfigDict(extra="forbid")
    holder: str = Field(min_length=1, max_length=100)
    label: str = Field(max_length=200)
    after: SweepPlace | None = None
    count: int = Field(96, ge=1, le=sweeping.MOST)


@dataclass(frozen=True, slots=True)
class SweepScreen:
    """Pictures of one class; how many there are, and are left, is said with the first screen."""

    tiles: Sequence[WallTile]
    others: int
    left: int | None
    classes: Mapping[str, int]


@router.post("/sweep")
def sweep(run: int, body: SweepWish, at: premises.At, person: login.Viewer) -> SweepScreen:
    """The next screen of a class; those who only look reserve nothing."""
    after = After(body.after.score, body.after.image) if body.after else None
    if login.allows(person, Role.LABELER):
        with at.write() as session:
            views.project_of(session, run)
            found = sweeping.take(
                session, run, body.label, body.holder, person.name, after=after, count=body.count
            )
    else:
        with at.read() as session:
            views.project_of(session, run)
            found = sweeping.look(session, run, body.label, after=after, count=body.count)
    with at.read() as session:
        left = None if after else sweeping.left(session, run, body.label)
        classes = {} if after else views.wall_classes(session, run)
    tiles = [review_cards.tile(run, one) for one in found.tiles]
    return SweepScreen(tiles, found.others, left, classes)
