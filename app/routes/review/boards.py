"""The boards of a run as a table: what stands of each, a part at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request

from app import premises
from app.edge import login, pools
from backend.domain import Project
from backend.projects import catalogue
from backend.review import agenda, views
from backend.review.boards import verdicts
from backend.review.boards.verdicts import StandingBoard, StandingDefect, UnreadPicture

router = APIRouter(prefix="/api/runs/{run}", dependencies=[login.SEES], route_class=pools.Pooled)

PART = 60


@dataclass(frozen=True, slots=True)
class DefectMark:
    """Where a defect is; without a score it is a label."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str
    score: float | None


@dataclass(frozen=True, slots=True)
class BoardCard:
    """A board with its verdict; `said_by` is empty where the rule says it.

    `called` is the class of a classified picture, a person's or the model's.
    """

    image: int
    name: str
    sha256: str
    width: int
    height: int
    group: str
    verdict: str
    said_by: str
    worst: float | None
    defects: Sequence[DefectMark]
    called: str


@dataclass(frozen=True, slots=True)
class BoardsOfRun:
    """A part of the boards; `next` is the one to go on after, or 0.

    `total`, and what the run could not read, are said with the first part alone.
    """

    project: Project
    total: int
    next: int
    boards: Sequence[BoardCard]
    unread: int
    unreadable: Sequence[UnreadPicture]


@router.get("/boards")
def boards(
    run: int, request: Request, at: premises.At, after: Annotated[int, Query(ge=0)] = 0
) -> BoardsOfRun:
    """The boards of a run that a choice names, in its order."""
    choice = agenda.parse(request.query_params.multi_items())
    with at.read() as session:
        project = catalogue.get(session, views.project_of(session, run))
        ids = agenda.ids(session, run, choice, PART, after)
        found = verdicts.of(session, run, ids)
        total = 0 if after else agenda.counts(session, run, choice)[0]
        unread, lost = (0, []) if after else verdicts.unreadable(session, run, PART)
    more = ids[-1] if len(ids) == PART else 0
    cards = [_card(one) for one in found]
    return BoardsOfRun(project, total, more, cards, unread, lost)


def _card(one: StandingBoard) -> BoardCard:
    image = one.image
    return BoardCard(
        image.id,
        image.name,
        image.sha256,
        image.width,
        image.height,
        image.group,
        one.verdict,
        one.said_by,
        one.worst,
        [_mark(defect) for defect in one.defects],
        one.called,
    )


def _mark(one: StandingDefect) -> DefectMark:
    return DefectMark(*one.place, one.label, one.score)
