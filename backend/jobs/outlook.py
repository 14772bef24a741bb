"""Where jobs stand in the queue, and how long still: from what runs, waits, and took its time."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Job, JobState
from backend.jobs import kinds, queue
from backend.storage import doors, tables
from backend.storage.types import now

Row = tables.JobRow
LOOKED_AT, LAST = 50, 10
AT_WORK = (JobState.RUNNING, JobState.QUEUED)


@dataclass(frozen=True, slots=True)
class Outlook:
    """A job's place in its lane (0 while it runs or has ended) and the seconds still to go.

    `behind` is a running job that must end first: a worker does one of a lane at a time.
    """

    position: int = 0
    waits: float | None = None
    needs: float | None = None
    behind: int | None = None


def outlook_of(session: Session, job: Job) -> Outlook:
    """Where one job stands."""
    return outlooks(session, [job])[job.id]


def outlooks(session: Session, jobs: Sequence[Job]) -> dict[int, Outlook]:
    """Where these jobs stand; as many questions for many as for a few."""
    found = {job.id: Outlook() for job in jobs}
    if not any(job.state in AT_WORK for job in jobs):
        return found
    usual = _Usual(session)
    # A place in the queue counts what others wait for, too.
    query = doors.of_all(select(Row).where(Row.state.in_(AT_WORK)))
    going = [queue.to_job(session, row) for row in session.scalars(query)]
    lanes = {kinds.find(job.kind).lane for job in jobs if job.state is JobState.QUEUED}
    for lane in lanes:
        names = kinds.of_lane(lane)
        found |= _lane([job for job in going if job.kind in names], usual)
    for job in jobs:
        if job.state is JobState.RUNNING:
            found[job.id] = Outlook(needs=usual.left(job))
    return {job.id: found.get(job.id, Outlook()) for job in jobs}


@dataclass(slots=True)
class _Usual:
    """How long jobs take; what was asked of the database is kept."""

    session: Session
    known: dict[str, list[tuple[object, float]]] = field(default_factory=dict)

    def whole(self, job: Job) -> float | None:
        """The median of the last jobs of this kind and family that ended well at once."""
        if job.kind not in self.known:
            self.known[job.kind] = self._times(job.kind)
        family = job.request.get("family")
        times = [seconds for of, seconds in self.known[job.kind] if of == family]
        return statistics.median(times[:LAST]) if times else None

    def left(self, job: Job) -> float | None:
        """Seconds that a running job still needs, by its own pace or by what is usual.

        One that goes on has done a part in attempts whose time nobody kept, so it has no pace.
        """
        gone = (now() - job.started).total_seconds() if job.started else 0.0
        if job.progress > 0.05 and gone > 0 and job.attempt == 1:
            return gone / job.progress - gone
        usual = self.whole(job)
        if usual is None:
            return None
        return usual * (1 - job.progress) if job.attempt > 1 else max(usual - gone, 0.0)

    def _times(self, kind: str) -> list[tuple[object, float]]:
        query = (
            select(Row.started, Row.finished, Row.request)
            .where(Row.kind == kind, Row.state == JobState.DONE, Row.attempt == 1)
            .order_by(Row.id.desc())
            .limit(LOOKED_AT)
        )
        return [
            (request.get("family"), (finished - started).total_seconds())
            for started, finished, request in self.session.execute(doors.of_all(query))
            if started and finished
        ]


def _lane(going: Sequence[Job], usual: _Usual) -> dict[int, Outlook]:
    """Where each waiting job of a lane stands: after what runs, and what was to come before it."""
    running = [job for job in going if job.state is JobState.RUNNING]
    waiting = [job for job in going if job.state is JobState.QUEUED]
    times = [usual.left(job) for job in running]
    waits = None if None in times else sum(time for time in times if time is not None)
    behind = next((job.id for job in running if queue.known(usual.session, job.id)), None)
    found = {}
    for place, job in enumerate(sorted(waiting, key=lambda one: (-one.priority, one.id)), 1):
        needs = usual.whole(job)
        found[job.id] = Outlook(place, waits, needs, behind)
        waits = None if waits is None or needs is None else waits + needs
    return found
