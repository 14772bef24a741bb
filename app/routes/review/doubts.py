"""Labels in doubt, one after the other: what was found instead, and what a person says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app import premises
from app.edge import login, pools
from app.routes import job_cards
from app.routes.job_cards import JobCard
from backend.domain import Box, Project
from backend.jobs import kinds, queue
from backend.labels import gallery
from backend.review.doubts import answering, asking, inbox
from backend.review.doubts.asking import Wanted
from backend.review.doubts.inbox import Held
from backend.runs import placements
from backend.storage.types import LARGEST_KEY

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)

PART = 40


class Search(BaseModel):
    """Who asks twice under one key gets the job that was begun."""

    model_config = ConfigDict(extra="forbid")
    key: str = Field("", max_length=64)


class DoubtAnswer(BaseModel):
    """What a person says of a label in doubt; nothing takes back what was said."""

    model_config = ConfigDict(extra="forbid")
    answer: Literal["fixed", "dismissed", ""]


@dataclass(frozen=True, slots=True)
class DoubtedLabel:
    """A label in doubt on its picture; `found` is what stands there instead, as a model says.

    `lie` says how the golden lies on the picture, as far as that is known.
    """

    id: int
    image: int
    name: str
    sha256: str
    width: int
    height: int
    golden: str
    lie: Sequence[float]
    kind: str
    certainty: float
    label: Box | None
    found: Box | None
    score: float
    answer: str


@dataclass(frozen=True, slots=True)
class DoubtedLabels:
    """A part of the doubts, the surest first; `job` is the search that goes on, or the last one."""

    project: Project
    counts: Mapping[str, int]
    doubts: Sequence[DoubtedLabel]
    job: JobCard | None


@router.get("/projects/{project}/doubts")
def doubts(
    project: str, at: premises.At, after: Annotated[int, Query(ge=0, le=LARGEST_KEY)] = 0
) -> DoubtedLabels:
    """The labels in doubt that stand, the surest first, behind the one with that id."""
    with at.read() as session:
        found = premises.project(session, project)
        counts = {} if after else inbox.count(session, found.id)
        held = inbox.window(session, found.id, PART, after)
        last = queue.last(session, kinds.Doubts(found.id, 0))
        job = job_cards.listed(last) if last else None
        return DoubtedLabels(found, counts, _cards(session, held), job)


@router.post("/projects/{project}/doubts", dependencies=[login.LABELS])
def search(project: str, body: Search, at: premises.At, person: login.Labeler) -> JobCard:
    """Look for them anew, as `loupe doubts` does without options."""
    with at.write() as session:
        found = premises.project(session, project)
        job = asking.ask(session, found.id, Wanted(), person.name, body.key)
        return job_cards.whole(job)


@router.put("/doubts/{doubt}", dependencies=[login.LABELS])
def answer(doubt: int, body: DoubtAnswer, at: premises.At, person: login.Labeler) -> DoubtedLabel:
    """Mend the label as the model says, let it be, or take that back."""
    say = {"fixed": answering.fix, "dismissed": answering.dismiss, "": answering.take_back}
    with at.write() as session:
        return _cards(session, [say[body.answer](session, doubt, person.name)])[0]


def _cards(session: Session, held: Sequence[Held]) -> list[DoubtedLabel]:
    shown = gallery.items(session, [one.image.id for one in held])
    laid = {one.image.id: one for one in placements.laid(session, shown)}
    return [_card(one, laid.get(one.image.id)) for one in held]


def _card(one: Held, shown: gallery.GalleryImage | None) -> DoubtedLabel:
    image = one.image
    return DoubtedLabel(
        one.id,
        image.id,
        image.name,
        image.sha256,
        image.width,
        image.height,
        shown.golden_sha256 if shown else "",
        shown.lie if shown else (),
        one.kind.value,
        one.certainty,
        one.label,
        one.found,
        one.score,
        one.answer,
    )
