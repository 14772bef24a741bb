"""Windows of images for the grid, the counts of its filters, and changes of many images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from app.routes.labels import image_cards
from app.routes.labels.image_cards import ImageCard
from backend.labels import bulk, gallery
from backend.previews.previews import PREVIEW
from backend.review.deciding import saves

router = APIRouter(
    prefix="/api/projects/{project}", dependencies=[login.SEES], route_class=pools.Pooled
)


@dataclass(frozen=True, slots=True)
class ImagePage:
    """A window of the images that a filter lets through."""

    total: int
    items: Sequence[ImageCard]


@router.get("/images")
def window(
    project: str,
    request: Request,
    at: premises.At,
    offset: int = 0,
    limit: int = 100,
) -> ImagePage:
    """The images from `offset` on that the filters of the query let through."""
    chosen = gallery.parse(request.query_params.multi_items())
    with at.read() as session:
        found = premises.project(session, project)
        page = gallery.page(session, found.id, chosen, offset, limit)
    at.previews.ahead(large(page.items))
    return ImagePage(page.total, [image_cards.card(item) for item in page.items])


@router.get("/images/counts")
@pools.heavy
def counts(project: str, request: Request, at: premises.At) -> gallery.ImageCounts:
    """How many images each value of each filter would show."""
    chosen = gallery.parse(request.query_params.multi_items())
    with at.read() as session:
        return gallery.counts(session, premises.project(session, project).id, chosen)


@router.get("/images/ids")
@pools.heavy
def ids(project: str, request: Request, at: premises.At) -> list[int]:
    """All images that the filters let through, in order: to choose them all."""
    chosen = gallery.parse(request.query_params.multi_items())
    with at.read() as session:
        return gallery.ids(session, premises.project(session, project).id, chosen)


def large(items: Sequence[gallery.GalleryImage]) -> list[str]:
    """The pictures that are better made small before somebody opens them."""
    return [one.image.sha256 for one in items if max(one.image.width, one.image.height) > PREVIEW]


class BulkChange(BaseModel):
    """One change of many images."""

    model_config = ConfigDict(extra="forbid")
    images: list[int] = Field(min_length=1, max_length=200_000)
    action: Literal["split", "group", "state", "class", "class-back", "delete", "restore"]
    value: str = Field("", max_length=300)


@router.post("/images/change")
@pools.heavy
def change(project: str, body: BulkChange, at: premises.At, person: login.Labeler) -> bulk.Changed:
    """Change many images at once; the answer holds what undoes it."""
    with at.read() as session:
        found = premises.project(session, project)
        bulk.refuse_strange(session, found.id, body.images)
    wanted = bulk.Change(body.action, body.value)
    return saves.change(at.write, found.id, wanted, body.images, person.name)
