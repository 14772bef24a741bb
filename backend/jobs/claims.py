"""What a worker does with jobs: it takes one, shows that it lives, and says how the job ended.

`attempt` counts the claims and fences off a worker that lost its job; `wish` asks a running job to
stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from backend.domain import FINAL, Job, JobState, Wish
from backend.errors import LeaseLost
from backend.jobs import journal, kinds, queue
from backend.jobs.lanes import Lane
from backend.storage import tables
from backend.storage.types import now

Row = tables.JobRow


def is_waiting(session: Session, lane: Lane) -> bool:
    """Whether a claim could find something: asked first, as it takes no write lock."""
    found = select(Row.id).where(Row.state == JobState.QUEUED, Row.kind.in_(kinds.of_lane(lane)))
    return session.scalar(found.limit(1)) is not None


def lanes_waiting(session: Session) -> set[Lane]:
    """The lanes in which a claim could find something, as `is_waiting` tells of one."""
    found = select(Row.kind).where(Row.state == JobState.QUEUED).distinct()
    return {kinds.find(name).lane for name in session.scalars(found) if name in kinds.KINDS}


def claim(session: Session, worker: str, lane: Lane) -> Job | None:
    """Take the next job of a lane for this worker, if there is one that may run now."""
    _fail_orphans(session)
    for id in session.scalars(_claimable(lane)).all():
        try:
            with session.begin_nested():
                taken = queue.swap(
                    session,
                    (Row.id == id, Row.state == JobState.QUEUED),
                    state=JobState.RUNNING,
                    attempt=Row.attempt + 1,
                    beats=0,
                    worker=worker,
                    wish="",
                    started=now(),
                    message="Starting",
                )
        except IntegrityError:  # another worker took a job with the same lock just now
            continue
        if taken:
            job = queue.get(session, id)
            journal.write(session, id, f"Attempt {job.attempt} begins on {worker}.")
            return job
    return None


def renew(session: Session, job: Job) -> Wish | None:
    """Show that the worker lives; what a person wishes of the job comes back."""
    if not queue.swap(session, _held(job), beats=Row.beats + 1):
        raise _lost(job)
    return wish(session, job)


def wish(session: Session, job: Job) -> Wish | None:
    """What a person wishes of this running job; raises LeaseLost when it is not ours."""
    found = session.execute(select(Row.wish).where(*_held(job))).first()
    if found is None:
        raise _lost(job)
    return Wish(found.wish) if found.wish else None


def fence(session: Session, job: Job) -> None:
    """Stand before results in one transaction: nobody else can take the job until it ends."""
    if session.scalar(select(Row.id).where(*_held(job)).with_for_update()) is None:
        raise _lost(job)


def progress(session: Session, job: Job, fraction: float | None, message: str) -> None:
    """Keep how far the job is, from 0 to 1, with a sentence; None leaves it where it is."""
    values = {} if fraction is None else {"progress": min(max(fraction, 0.0), 1.0)}
    if not queue.swap(session, _held(job), message=message, **values):
        raise _lost(job)


def finish(session: Session, job: Job, result: Mapping[str, Any]) -> None:
    """The job is done; call it in the transaction that writes the last results."""
    _end(session, job, JobState.DONE, "Done.", result=dict(result), progress=1.0)


def fail(session: Session, job: Job, reason: str) -> None:
    """The job ends here with a reason for people."""
    _end(session, job, JobState.FAILED, reason, error=reason)


def forgive(session: Session, job: Job, reason: str) -> bool:
    """The attempt broke down; queue the job again unless that happened too often."""
    if wish(session, job):
        release(session, job, reason)
        return True
    failures = job.failures + 1
    if failures > kinds.find(job.kind).retries:
        fail(session, job, f"{reason} It was tried {failures} times.")
        return False
    _back(session, job, f"{reason} It is tried again.", failures=failures)
    return True


def release(session: Session, job: Job, reason: str) -> JobState:
    """The worker lets go: the job ends or pauses if a person wished it, else it waits again."""
    asked = wish(session, job)
    if asked is Wish.CANCEL:
        _end(session, job, JobState.CANCELLED, "Cancelled.")
        return JobState.CANCELLED
    if asked is Wish.PAUSE:
        _end(session, job, JobState.PAUSED, "Paused.")
        return JobState.PAUSED
    _back(session, job, reason)
    return JobState.QUEUED


def running(session: Session) -> list[tuple[Job, int]]:
    """Every running job with its heartbeat counter, for who watches over silent workers."""
    rows = session.scalars(select(Row).where(Row.state == JobState.RUNNING)).all()
    return [(queue.to_job(session, row), row.beats) for row in rows]


def named_paths(session: Session) -> list[str]:
    """The files and folders that jobs which have not ended still need."""
    rows = session.scalars(select(Row.request).where(Row.state.not_in(FINAL)))
    told = (asked.get(key) for asked in rows for key in ("source", "path"))
    return [path for path in told if path and isinstance(path, str)]


def take_away(session: Session, job: Job, beats: int, reason: str) -> None:
    """Free a job whose worker is dead or silent, unless its heart has beaten since."""
    found = session.scalar(select(Row.id).where(*_held(job), Row.beats == beats).with_for_update())
    if found is not None:
        release(session, job, reason)


def _end(session: Session, job: Job, state: JobState, text: str, **values: Any) -> None:
    values = {"message": text, **values}
    if not queue.swap(session, _held(job), state=state, **queue.ended(state), **values):
        raise _lost(job)
    level = "error" if state is JobState.FAILED else "info"
    journal.write(session, job.id, text, level=level)


def _back(session: Session, job: Job, reason: str, **values: Any) -> None:
    values = {"wish": "", "message": reason, **values}
    if not queue.swap(session, _held(job), state=JobState.QUEUED, **values):
        raise _lost(job)
    journal.write(session, job.id, reason, level="warning")


def _held(job: Job) -> tuple[ColumnElement[bool], ...]:
    return (Row.id == job.id, Row.attempt == job.attempt, Row.state == JobState.RUNNING)


def _lost(job: Job) -> LeaseLost:
    return LeaseLost(f"Job {job.id} is no longer held by {job.worker or 'this worker'}.")


def _claimable(lane: Lane) -> Any:
    other = aliased(Row)
    locked = exists().where(other.lock == Row.lock, other.state == JobState.RUNNING)
    ready = exists().where(other.id == Row.after_id, other.state == JobState.DONE)
    return (
        select(Row.id)
        .where(Row.state == JobState.QUEUED, Row.kind.in_(kinds.of_lane(lane)))
        .where(~locked, Row.after_id.is_(None) | ready)
        .order_by(Row.priority.desc(), Row.id)
        .limit(10)
    )


def _fail_orphans(session: Session) -> None:
    """A job that waits for one that failed or was cancelled will never run: say so."""
    before = aliased(Row)
    lost = (JobState.FAILED, JobState.CANCELLED)
    found = session.execute(
        select(Row.id, before.id, before.state)
        .join(before, before.id == Row.after_id)
        .where(Row.state == JobState.QUEUED, before.state.in_(lost))
    )
    for id, first, state in found.all():
        reason = f"It waited for job {first}, which {_was(JobState(state))}."
        where = (Row.id == id, Row.state == JobState.QUEUED)
        ended = queue.ended(JobState.FAILED)
        if queue.swap(session, where, state=JobState.FAILED, error=reason, message=reason, **ended):
            journal.write(session, id, reason, level="error")


def _was(state: JobState) -> str:
    return "was cancelled" if state is JobState.CANCELLED else "failed"
