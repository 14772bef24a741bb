"""What the pages ask of the queue: which jobs there are, and how many."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import FINAL, Job, JobState
from backend.jobs import kinds, queue
from backend.jobs.lanes import Lane
from backend.storage import tables

Row = tables.JobRow
OPEN = tuple(state for state in JobState if state not in FINAL)
NEWEST = 1000
# Somebody waits before these for an answer; there is no work to follow.
ANSWERS = kinds.of_lane(Lane.INSTANT)


def find(
    session: Session,
    *,
    project_id: int | None = None,
    states: Sequence[JobState] | None = None,
    kind: str = "",
    author: str = "",
    before: int | None = None,
    limit: int = 50,
) -> list[Job]:
    """The newest jobs that fit every given filter; `before` pages on from the last one's id.

    Tries of a picture are there only where their kind is asked for.
    """
    query = select(Row).order_by(Row.id.desc()).limit(limit)
    query = query.where(Row.kind == kind if kind else Row.kind.not_in(ANSWERS))
    if project_id is not None:
        query = query.where(Row.project_id == project_id)
    if states is not None:
        query = query.where(Row.state.in_(states))
    if author:
        query = query.where(Row.author == author)
    if before is not None:
        query = query.where(Row.id < before)
    return [queue.to_job(session, row) for row in session.scalars(query)]


def authors(session: Session) -> list[str]:
    """Everybody who has asked for one of the newest jobs."""
    newest = select(Row.id).order_by(Row.id.desc()).limit(NEWEST)
    query = select(Row.author).distinct().where(Row.author != "", Row.id.in_(newest))
    return list(session.scalars(query.order_by(Row.author)))


def counts(session: Session) -> dict[JobState, int]:
    """How many jobs stand in each state that is not an end, tries of a picture left out."""
    open_ = Row.state.in_(OPEN) & Row.kind.not_in(ANSWERS)
    query = select(Row.state, func.count()).where(open_).group_by(Row.state)
    found = {JobState(state): number for state, number in session.execute(query)}
    return {state: found.get(state, 0) for state in OPEN}
