"""The queue: each change of a job's state is one compare-and-swap in the caller's transaction.

queued → running → done | failed | cancelled, and paused beside queued. `attempt` counts the
claims and fences off a worker that lost its job; `wish` asks a running job to stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from backend.domain import FINAL, Job, JobState, Wish
from backend.errors import Busy, LeaseLost, NotFound, Refused
from backend.jobs import journal, kinds
from backend.storage import tables
from backend.storage.types import now

Row = tables.JobRow


def enqueue(
    session: Session,
    request: kinds.Request,
    *,
    author: str = "",
    key: str = "",
    priority: int = 0,
    after: int | None = None,
) -> Job:
    """Queue a request; the same `key` again gives the job that it made the first time."""
    kind = kinds.find(request.kind)
    if key and (known := by_key(session, key)):
        return known
    waiting = kinds.fill(kind.waiting, request)
    _refuse_twin(session, kind, waiting)
    row = Row(
        kind=kind.name,
        project_id=request.project_id,
        request=kinds.encode(request),
        state=JobState.QUEUED,
        author=author,
        idempotency_key=key or None,
        priority=kind.priority + priority,
        after_id=after,
        lock=kinds.fill(kind.lock, request),
        queueing_lock=waiting,
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError as error:
        raise Busy(f"{kind.title} is already waiting in the queue.") from error
    journal.write(session, row.id, "Queued.")
    return to_job(row)


def by_key(session: Session, key: str) -> Job | None:
    """The job that was queued under an idempotency key, if there is one."""
    row = session.scalar(select(Row).where(Row.idempotency_key == key))
    return to_job(row) if row else None


def going_on(session: Session, request: kinds.Request) -> Job | None:
    """The job that holds, or waits for, the lock that this request would take."""
    lock = kinds.fill(kinds.find(request.kind).lock, request)
    ended = Row.state.in_(FINAL)
    row = session.scalar(select(Row).where(Row.kind == request.kind, Row.lock == lock, ~ended))
    return to_job(row) if row else None


def refuse_waiting(session: Session, name: str, project_id: int) -> None:
    """Raise Busy if a job of that kind already waits for the project: no need to prepare one."""
    waiting = select(Row.id).where(
        Row.kind == name, Row.project_id == project_id, Row.state == JobState.QUEUED
    )
    if (id := session.scalar(waiting.limit(1))) is not None:
        title = kinds.find(name).title
        raise Busy(f"{title} of this project is already waiting in the queue as job {id}.")


def is_waiting(session: Session, lane: kinds.Lane) -> bool:
    """Whether a claim could find something: asked first, as it takes no write lock."""
    found = select(Row.id).where(Row.state == JobState.QUEUED, Row.kind.in_(kinds.of_lane(lane)))
    return session.scalar(found.limit(1)) is not None


def claim(session: Session, worker: str, lane: kinds.Lane) -> Job | None:
    """Take the next job of a lane for this worker, if there is one that may run now."""
    _fail_orphans(session)
    for id in session.scalars(_claimable(lane)).all():
        try:
            with session.begin_nested():
                taken = _swap(
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
            job = get(session, id)
            journal.write(session, id, f"Attempt {job.attempt} begins on {worker}.")
            return job
    return None


def renew(session: Session, job: Job) -> Wish | None:
    """Show that the worker lives; what a person wishes of the job comes back."""
    if not _swap(session, _held(job), beats=Row.beats + 1):
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


def progress(session: Session, job: Job, fraction: float, message: str) -> None:
    """Keep how far the job is, from 0 to 1, with a sentence."""
    fraction = min(max(fraction, 0.0), 1.0)
    if not _swap(session, _held(job), progress=fraction, message=message):
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
    return [(to_job(row), row.beats) for row in rows]


def take_away(session: Session, job: Job, beats: int, reason: str) -> None:
    """Free a job whose worker is dead or silent, unless its heart has beaten since."""
    found = session.scalar(select(Row.id).where(*_held(job), Row.beats == beats).with_for_update())
    if found is not None:
        release(session, job, reason)


def cancel(session: Session, id: int, author: str = "") -> Job:
    """Stop a job for good; a running one within seconds, when its worker has seen it."""
    return _stop(session, id, Wish.CANCEL, JobState.CANCELLED, author)


def pause(session: Session, id: int, author: str = "") -> Job:
    """Stop a job for now; it goes on from its last checkpoint when resumed."""
    return _stop(session, id, Wish.PAUSE, JobState.PAUSED, author)


def resume(session: Session, id: int, author: str = "") -> Job:
    """Let a paused job wait for a worker again."""
    return _requeue(session, id, (JobState.PAUSED,), "Resumed", author)


def retry(session: Session, id: int, author: str = "") -> Job:
    """Queue a failed or cancelled job again, as a new try of the same request."""
    return _requeue(session, id, (JobState.FAILED, JobState.CANCELLED), "Queued again", author)


def get(session: Session, id: int) -> Job:
    """The job of that number."""
    row = session.get(Row, id, populate_existing=True)
    if row is None:
        raise NotFound(f"There is no job {id}.")
    return to_job(row)


def to_job(row: tables.JobRow) -> Job:
    """The row as people and pages know it."""
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
        result=row.result or {},
        started=row.started,
        finished=row.finished,
        worker=row.worker,
        wish=Wish(row.wish) if row.wish else None,
        failures=row.failures,
        priority=row.priority,
        after_id=row.after_id,
    )


def _stop(session: Session, id: int, wanted: Wish, state: JobState, author: str) -> Job:
    at_rest = (JobState.QUEUED, JobState.PAUSED)
    by = f" by {author}" if author else ""
    if _swap(session, (Row.id == id, Row.state.in_(at_rest)), state=state, **_ended(state)):
        journal.write(session, id, f"{state.capitalize()}{by} while it waited.")
    elif _swap(session, (Row.id == id, Row.state == JobState.RUNNING), wish=wanted):
        journal.write(session, id, f"Asked to {wanted}{by}.")
    else:
        job = get(session, id)
        raise Refused(f"Job {id} is already {job.state}.")
    return get(session, id)


def _requeue(session: Session, id: int, states: Iterable[JobState], word: str, author: str) -> Job:
    job = get(session, id)
    request = kinds.decode(job.kind, job.request)
    kind = kinds.find(job.kind)
    _refuse_twin(session, kind, kinds.fill(kind.waiting, request))
    states = tuple(states)
    fresh = {"failures": 0, "error": "", "wish": "", "finished": None, "message": ""}
    if not _swap(session, (Row.id == id, Row.state.in_(states)), state=JobState.QUEUED, **fresh):
        raise Refused(f"Job {id} is {job.state}; only one that is {' or '.join(states)} can be.")
    journal.write(session, id, f"{word} by {author}." if author else f"{word}.")
    return get(session, id)


def _end(session: Session, job: Job, state: JobState, text: str, **values: Any) -> None:
    values = {"message": text, **values}
    if not _swap(session, _held(job), state=state, **_ended(state), **values):
        raise _lost(job)
    level = "error" if state is JobState.FAILED else "info"
    journal.write(session, job.id, text, level=level)


def _back(session: Session, job: Job, reason: str, **values: Any) -> None:
    values = {"wish": "", "message": reason, **values}
    if not _swap(session, _held(job), state=JobState.QUEUED, **values):
        raise _lost(job)
    journal.write(session, job.id, reason, level="warning")


def _ended(state: JobState) -> dict[str, Any]:
    return {"wish": "", "finished": now() if state in FINAL else None}


def _held(job: Job) -> tuple[ColumnElement[bool], ...]:
    return (Row.id == job.id, Row.attempt == job.attempt, Row.state == JobState.RUNNING)


def _lost(job: Job) -> LeaseLost:
    return LeaseLost(f"Job {job.id} is no longer held by {job.worker or 'this worker'}.")


def _swap(session: Session, where: Iterable[ColumnElement[bool]], **values: Any) -> bool:
    statement = update(Row).where(*where).values(**values)
    done = session.execute(statement.execution_options(synchronize_session=False))
    return bool(done.rowcount)  # type: ignore[attr-defined]


def _refuse_twin(session: Session, kind: kinds.Kind, waiting: str | None) -> None:
    """Two at once are told apart by the unique index; this covers those queued again, too."""
    if waiting is None:
        return
    twin = select(Row.id).where(Row.queueing_lock == waiting, Row.state == JobState.QUEUED)
    if (id := session.scalar(twin.limit(1))) is not None:
        raise Busy(f"{kind.title} is already waiting in the queue as job {id}.")


def _claimable(lane: kinds.Lane) -> Any:
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
        ended = _ended(JobState.FAILED)
        if _swap(session, where, state=JobState.FAILED, error=reason, message=reason, **ended):
            journal.write(session, id, reason, level="error")


def _was(state: JobState) -> str:
    return "was cancelled" if state is JobState.CANCELLED else "failed"
