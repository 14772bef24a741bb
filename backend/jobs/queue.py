"""The queue: each change of a job's state is one compare-and-swap in the caller's transaction.

queued → running → done | failed | cancelled, and paused beside queued. Here is what people ask of
it; what a worker does with the jobs that it takes is in `claims`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.domain import FINAL, Job, JobState, Wish
from backend.errors import Busy, NotFound, Refused
from backend.jobs import exclusion, journal, kinds
from backend.jobs.lanes import Lane
from backend.storage import doors, tables
from backend.storage.classes import class_names, figures
from backend.storage.types import LARGEST_KEY, now

Row = tables.JobRow
# Answers are numbered upwards from here and stay below zero; as many at once are held apart.
ASIDE = -(10**12)
AT_ONCE = 100


def enqueue(
    session: Session,
    request: kinds.Request,
    *,
    author: str = "",
    key: str = "",
    priority: int = 0,
    after: int | None = None,
) -> Job:
    """Queue a request; the same author's same `key` again gives the job that it made before."""
    kind = kinds.find(request.kind)
    if key and (before := by_key(session, request.kind, request.project_id, author, key)):
        return before
    waiting = exclusion.key(kind.waiting, request)
    _refuse_twin(session, kind, waiting)
    values = {
        "kind": kind.name,
        "project_id": request.project_id,
        "request": kinds.encode(request),
        "state": JobState.QUEUED,
        "author": author,
        "idempotency_key": _scoped(kind.name, request.project_id, author, key) if key else None,
        "priority": kind.priority + priority,
        "after_id": after,
        "lock": exclusion.key(kind.lock, request),
        "queueing_lock": waiting,
    }
    add = _add_aside if kind.lane is Lane.INSTANT else _add
    try:
        row = add(session, values)
    except IntegrityError as error:
        if key and (before := by_key(session, request.kind, request.project_id, author, key)):
            return before
        raise Busy(f"{kind.title} is already waiting in the queue.") from error
    journal.write(session, row.id, "Queued.")
    return to_job(session, row)


def by_key(
    session: Session, kind: str, project_id: int | None, author: str, key: str
) -> Job | None:
    """The job of that kind and project that its author queued under a key, if there is one."""
    scoped = _scoped(kind, project_id, author, key)
    row = session.scalar(select(Row).where(Row.idempotency_key == scoped))
    return to_job(session, row) if row else None


def going_on(session: Session, request: kinds.Request) -> Job | None:
    """The job that holds, or waits for, the lock that this request would take."""
    lock = exclusion.key(kinds.find(request.kind).lock, request)
    going = Row.state.not_in(FINAL)
    row = session.scalar(select(Row).where(Row.kind == request.kind, Row.lock == lock, going))
    return to_job(session, row) if row else None


def last(session: Session, request: kinds.Request) -> Job | None:
    """The newest job with the lock that this request would take, whatever became of it."""
    lock = exclusion.key(kinds.find(request.kind).lock, request)
    newest = select(Row).where(Row.kind == request.kind, Row.lock == lock).order_by(Row.id.desc())
    row = session.scalar(newest.limit(1))
    return to_job(session, row) if row else None


def refuse_waiting(session: Session, name: str, project_id: int) -> None:
    """Raise Busy if a job of that kind already waits for the project: no need to prepare one."""
    waiting = select(Row.id).where(
        Row.kind == name, Row.project_id == project_id, Row.state == JobState.QUEUED
    )
    if (id := session.scalar(waiting.limit(1))) is not None:
        title = kinds.find(name).title
        raise Busy(f"{title} of this project is already waiting in the queue as job {id}.")


def cancel(session: Session, id: int, author: str = "") -> Job:
    """Stop a job for good; a running one within seconds, when its worker has seen it."""
    return _stop(session, id, Wish.CANCEL, JobState.CANCELLED, author)


def pause(session: Session, id: int, author: str = "") -> Job:
    """Stop a job for now; it goes on from its last checkpoint when resumed."""
    return _stop(session, id, Wish.PAUSE, JobState.PAUSED, author)


def resume(session: Session, id: int, author: str = "") -> Job:
    """Let a paused job wait for a worker again; it has come as far as it has."""
    return _requeue(session, id, (JobState.PAUSED,), "Resumed", author)


def retry(session: Session, id: int, author: str = "") -> Job:
    """Queue a failed or cancelled job again, as a new try of the same request."""
    ended = (JobState.FAILED, JobState.CANCELLED)
    return _requeue(session, id, ended, "Queued again", author, progress=0.0)


def get(session: Session, id: int) -> Job:
    """The job of that number."""
    row = session.get(Row, id, populate_existing=True) if id <= LARGEST_KEY else None
    if row is None:
        raise NotFound(f"There is no job {id}.")
    return to_job(session, row)


def known(session: Session, id: int) -> bool:
    """Whether there is a job of that number."""
    return session.scalar(select(Row.id).where(Row.id == id)) is not None


def to_job(session: Session, row: tables.JobRow) -> Job:
    """The row as people and pages know it; figures in its result under today's names."""
    return Job(
        id=row.id,
        kind=row.kind,
        project_id=row.project_id,
        request=row.request,
        state=JobState(row.state),
        attempt=row.attempt,
        author=row.author,
        at=row.at,
        progress=row.progress,
        message=row.message,
        error=row.error,
        result=_told(session, row),
        started=row.started,
        finished=row.finished,
        worker=row.worker,
        wish=Wish(row.wish) if row.wish else None,
        failures=row.failures,
        priority=row.priority,
        after_id=row.after_id,
    )


def _told(session: Session, row: tables.JobRow) -> dict[str, Any]:
    if not row.result or not figures.within(row.result):
        return row.result or {}
    return figures.named(row.result, class_names.of(session, row.project_id))


def swap(session: Session, where: Iterable[ColumnElement[bool]], **values: Any) -> bool:
    """Change a job if it still is as the caller knows it; tells whether it was."""
    statement = update(Row).where(*where).values(**values)
    done = session.execute(statement.execution_options(synchronize_session=False))
    return bool(done.rowcount)  # type: ignore[attr-defined]


def ended(state: JobState) -> dict[str, Any]:
    """What else changes when a job comes to rest or ends."""
    return {"wish": "", "finished": now() if state in FINAL else None}


def _add(session: Session, values: Mapping[str, Any]) -> tables.JobRow:
    row = Row(**values)
    with session.begin_nested():
        session.add(row)
        session.flush()
    return row


def _add_aside(session: Session, values: Mapping[str, Any]) -> tables.JobRow:
    """Add a job that nobody calls by its number, without using up one that people read."""
    last = doors.of_all(select(func.max(Row.id)).where(Row.id < 0))
    for _ in range(AT_ONCE):
        with suppress(IntegrityError):  # another took this number just now
            return _add(session, {**values, "id": (session.scalar(last) or ASIDE) + 1})
    raise Busy("Too many ask for an answer at this moment; try again in a moment.")


def _scoped(kind: str, project_id: int | None, author: str, key: str) -> str:
    """A key means one thing of one person: another's same key names another job."""
    return hashlib.sha256(repr((kind, project_id, author, key)).encode()).hexdigest()


def _stop(session: Session, id: int, wanted: Wish, state: JobState, author: str) -> Job:
    if id > LARGEST_KEY:
        raise NotFound(f"There is no job {id}.")
    at_rest = (JobState.QUEUED, JobState.PAUSED)
    by = f" by {author}" if author else ""
    if swap(session, (Row.id == id, Row.state.in_(at_rest)), state=state, **ended(state)):
        journal.write(session, id, f"{state.capitalize()}{by} while it waited.")
    elif swap(session, (Row.id == id, Row.state == JobState.RUNNING), wish=wanted):
        journal.write(session, id, f"Asked to {wanted}{by}.")
    else:
        job = get(session, id)
        raise Refused(f"Job {id} is already {job.state}.")
    return get(session, id)


def _requeue(
    session: Session, id: int, states: Iterable[JobState], word: str, author: str, **values: Any
) -> Job:
    job = get(session, id)
    request = kinds.decode(job.kind, job.request)
    kind = kinds.find(job.kind)
    _refuse_twin(session, kind, exclusion.key(kind.waiting, request))
    states = tuple(states)
    fresh = {"failures": 0, "error": "", "wish": "", "finished": None, "message": ""} | values
    if not swap(session, (Row.id == id, Row.state.in_(states)), state=JobState.QUEUED, **fresh):
        raise Refused(f"Job {id} is {job.state}; only one that is {' or '.join(states)} can be.")
    journal.write(session, id, f"{word} by {author}." if author else f"{word}.")
    return get(session, id)


def _refuse_twin(session: Session, kind: kinds.Kind, waiting: str | None) -> None:
    """Two at once are told apart by the unique index; this covers those queued again, too."""
    if waiting is None:
        return
    twin = select(Row.id).where(Row.queueing_lock == waiting, Row.state == JobState.QUEUED)
    if (id := session.scalar(twin.limit(1))) is not None:
        raise Busy(f"{kind.title} is already waiting in the queue as job {id}.")
