"""What the pages ask of the queue: which jobs, which place in it, and how long still."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from backend.domain import Job, JobState
from backend.jobs import kinds, queue
from backend.storage import tables
from backend.storage.types import now

Row = tables.JobRow
LOOKED_AT, LAST = 50, 10


@dataclass(frozen=True, slots=True)
class Standing:
    """A job's place in its lane (0 while it runs or has ended) and the seconds still to go.

    `behind` is a running job that must end first: a worker does one of a lane at a time.
    """

    position: int = 0
    waits: float | None = None
    needs: float | None = None
    behind: int | None = None


def find(
    session: Session,
    *,
    project_id: int | None = None,
    states: Sequence[JobState] | None = None,
    kind: str = "",
    author: str = "",
    before: int | None = None,
    limit: int = 50,
    shut: Collection[int] = (),
) -> list[Job]:
    """The newest jobs that fit every given filter; `before` pages on from the last one's id.

    Jobs of the projects in `shut` are left out.
    """
    query = select(Row).order_by(Row.id.desc()).limit(limit)
    if project_id is not None:
        query = query.where(Row.project_id == project_id)
    if shut:
        query = query.where(_open_to_all_but(shut))
    if states is not None:
        query = query.where(Row.state.in_(states))
    if kind:
        query = query.where(Row.kind == kind)
    if author:
        query = query.where(Row.author == author)
    if before is not None:
        query = query.where(Row.id < before)
    return [queue.to_job(row) for row in session.scalars(query)]


def authors(session: Session, shut: Collection[int] = ()) -> list[str]:
    """Everybody who has asked for a job, those of shut projects left out."""
    query = select(Row.author).distinct().where(Row.author != "").order_by(Row.author)
    if shut:
        query = query.where(_open_to_all_but(shut))
    return list(session.scalars(query))


def counts(session: Session) -> dict[JobState, int]:
    """How many jobs stand in each state."""
    query = select(Row.state, func.count()).group_by(Row.state)
    found = {JobState(state): number for state, number in session.execute(query)}
    return {state: found.get(state, 0) for state in JobState}


def standing(session: Session, job: Job) -> Standing:
    """Where the job stands, from what runs, what waits before it, and how long such jobs took."""
    if job.state is JobState.RUNNING:
        return Standing(needs=_left(session, job))
    if job.state is not JobState.QUEUED:
        return Standing()
    lane = kinds.find(job.kind).lane
    running, waiting = _ahead(session, job, lane)
    times = [_left(session, other) for other in running] + [
        _usual(session, other) for other in waiting
    ]
    known = [time for time in times if time is not None]
    waits = sum(known) if len(known) == len(times) else None
    behind = running[0].id if running else None
    return Standing(len(waiting) + 1, waits, _usual(session, job), behind)


def _open_to_all_but(shut: Collection[int]) -> ColumnElement[bool]:
    return or_(Row.project_id.is_(None), Row.project_id.not_in(shut))


def _ahead(session: Session, job: Job, lane: kinds.Lane) -> tuple[list[Job], list[Job]]:
    query = select(Row).where(Row.kind.in_(kinds.of_lane(lane)))
    running = session.scalars(query.where(Row.state == JobState.RUNNING)).all()
    before = (Row.priority > job.priority) | ((Row.priority == job.priority) & (Row.id < job.id))
    waiting = session.scalars(query.where(Row.state == JobState.QUEUED, before)).all()
    return [queue.to_job(row) for row in running], [queue.to_job(row) for row in waiting]


def _left(session: Session, job: Job) -> float | None:
    """Seconds that a running job still needs, by its own pace or by what is usual.

    One that goes on has done a part in attempts whose time nobody kept, so it has no pace.
    """
    gone = (now() - job.started).total_seconds() if job.started else 0.0
    if job.progress > 0.05 and gone > 0 and job.attempt == 1:
        return gone / job.progress - gone
    usual = _usual(session, job)
    if usual is None:
        return None
    return usual * (1 - job.progress) if job.attempt > 1 else max(usual - gone, 0.0)


def _usual(session: Session, job: Job) -> float | None:
    """The median of the last jobs of this kind, and family of model, that ended well at once."""
    query = (
        select(Row.started, Row.finished, Row.request)
        .where(Row.kind == job.kind, Row.state == JobState.DONE, Row.attempt == 1)
        .order_by(Row.id.desc())
        .limit(LOOKED_AT)
    )
    times = [
        (finished - started).total_seconds()
        for started, finished, request in session.execute(query)
        if started and finished and request.get("family") == job.request.get("family")
    ]
    return statistics.median(times[:LAST]) if times else None
