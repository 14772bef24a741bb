"""What mlflow is to know of trainings, searches and benchmarks; the worker's tracker tells it.

Whoever has something to tell writes it here, in the transaction in which it becomes true. So a
store that is slow or away costs nobody anything, and whatever is killed, it is caught up.
"""

from __future__ import annotations

import hashlib
import itertools
import uuid
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, case, func, insert, literal_column, or_, select, update
from sqlalchemy.orm import Session, aliased

from backend import settings
from backend.domain import FINAL, JobEvent, JobState, Model
from backend.errors import NotFound
from backend.jobs import holder, journal, presence
from backend.storage.tables import JobRow, ModelRow, TrackedFigureRow, TrackedRunRow
from backend.storage.types import now

PART = 1_000  # events that are told at once
# The run under which another one is nested, and the job that it follows.
ABOVE, OVER = aliased(TrackedRunRow), aliased(JobRow)


@dataclass(frozen=True, slots=True)
class Tracked:
    """A run as it is now, and what the store knows of it.

    Whether its model is champion, and whether the store says so, are two things.
    """

    id: int
    project_id: int
    job_id: int | None
    model_id: int | None
    parent_id: int | None
    name: str
    mark: str
    state: JobState
    parameters: Mapping[str, Any]
    tags: Mapping[str, Any]
    began: datetime
    ended: datetime | None
    store: str
    run: str
    told: int
    told_state: str
    registered: str
    version: str
    champion: bool
    crowned: bool
    error: str


def wanted() -> bool:
    """Whether anybody is to be told; where not, nothing is written down for it."""
    return settings.current().tracks


def follow(
    session: Session,
    project_id: int,
    job_id: int,
    name: str,
    *,
    model: Model | None = None,
    parameters: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
) -> int:
    """A run that begins, goes on and ends as a job does, with the figures of its epochs.

    `model` is the one that the job trains; other runs may be nested under this one by its number.
    """
    return _add(
        session,
        project_id=project_id,
        job_id=job_id,
        model_id=model.id if model else None,
        name=name,
        state="",
        parameters=dict(parameters or {}),
        tags=dict(tags or {}),
    )


def begin(
    session: Session,
    project_id: int,
    name: str,
    *,
    parent: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
) -> int:
    """A run without a job of its own, as a trial or a configuration is; `tell` and `end` it."""
    return _add(
        session,
        project_id=project_id,
        name=name,
        parent_id=parent,
        parameters=dict(parameters or {}),
        tags=dict(tags or {}),
    )


def tell(session: Session, id: int, figures: Mapping[str, Any], step: int = 0) -> None:
    """What such a run has measured at a step."""
    row = TrackedRunRow
    seq = session.scalar(
        update(row)
        .where(row.id == id)
        .values(figures=row.figures + 1)
        .returning(row.figures)
        .execution_options(synchronize_session=False)
    )
    if seq is None:
        raise NotFound(f"There is no tracked run {id}.")
    values = {"tracked_run_id": id, "seq": seq, "at": now(), "step": step, "data": dict(figures)}
    session.execute(insert(TrackedFigureRow), [values])


def end(session: Session, id: int, state: JobState = JobState.DONE) -> None:
    """How such a run has ended; one that goes on again is RUNNING."""
    ended = now() if state in FINAL else None
    session.execute(update(TrackedRunRow).filter_by(id=id).values(state=state, ended=ended))


def of_job(session: Session, job_id: int | None) -> int | None:
    """The run that follows a job."""
    query = select(TrackedRunRow.id).where(TrackedRunRow.job_id == job_id)
    return session.scalar(query.order_by(TrackedRunRow.id).limit(1))


def named(session: Session, project_id: int, name: str) -> int | None:
    """The newest run of that name in a project."""
    query = select(TrackedRunRow.id).filter_by(project_id=project_id, name=name)
    return session.scalar(query.order_by(TrackedRunRow.id.desc()).limit(1))


def waiting(session: Session, me: str = "") -> list[int]:
    """The runs of which something was not told yet, parents first.

    With a holder's name only those that it may tell: a training is told by the machine that
    trains it, a nested run by the one that tells its parent; one whose machine is gone, by any.
    """
    above = ABOVE.holder.label("above")
    query = _joined(TrackedRunRow.id, TrackedRunRow.holder, JobRow.worker, above)
    parts = [session.execute(query.where(*one)).all() for one in (_of_jobs(), _of_none())]
    found = sorted(itertools.chain(*parts), key=lambda row: row.id)
    there = {holder.parts(one.name)[0] for one in presence.living(session)} if me else set()
    return [row.id for row in found if not me or _may_tell(me, row, there)]


def take(session: Session, id: int, me: str, store: str) -> Tracked | None:
    """Take a run to tell of it; None where another one was quicker, or it is gone.

    In a store that has never heard of it, it is told from its beginning.
    """
    row = session.scalar(select(TrackedRunRow).filter_by(id=id).with_for_update())
    if row is None or (row.holder != me and _lives(row.holder)):
        return None
    row.holder = me
    if row.store != store:
        row.store, row.run, row.told, row.told_state = store, "", 0, ""
        row.registered, row.version, row.crowned = "", "", False
    session.flush()
    return get(session, id)


def get(session: Session, id: int) -> Tracked:
    """A run as it stands."""
    found = session.execute(
        _joined(TrackedRunRow, JobRow, ModelRow, OVER).where(TrackedRunRow.id == id)
    ).first()
    if found is None:
        raise NotFound(f"There is no tracked run {id}.")
    row, job, model, over = found
    values = {name: getattr(row, name) for name in Tracked.__slots__ if name != "champion"}
    if job is not None:
        began = job.started or row.began
        values |= {"state": job.state, "began": began, "ended": job.finished}
    elif row.state == JobState.RUNNING and over is not None and over.state in FINAL:
        values |= {"state": over.state, "ended": over.finished}
    values["champion"] = bool(model.champion) if model is not None else False
    return Tracked(**{**values, "state": JobState(values["state"])})


def news(session: Session, run: Tracked) -> Sequence[JobEvent]:
    """What happened since it was told of last: the job's events, or its own figures."""
    if run.job_id is not None:
        return journal.read(session, run.job_id, since=run.told, limit=PART)
    row = TrackedFigureRow
    query = select(row).where(row.tracked_run_id == run.id, row.seq > run.told)
    found = session.scalars(query.order_by(row.seq).limit(PART))
    return [JobEvent(one.seq, one.at, "info", "", {**one.data, "epoch": one.step}) for one in found]


def told(session: Session, id: int, **values: Any) -> None:
    """Keep what the store knows by now."""
    session.execute(update(TrackedRunRow).filter_by(id=id).values(**values))


def place(text: str) -> str:
    """The name under which a store is remembered: nobody reads a password in it."""
    return hashlib.sha256(text.encode()).hexdigest()


def _add(session: Session, **values: Any) -> int:
    row = TrackedRunRow(mark=uuid.uuid4().hex, **values)
    session.add(row)
    session.flush()
    return row.id


def _joined(*columns: Any) -> Any:
    return (
        select(*columns)
        .select_from(TrackedRunRow)
        .outerjoin(JobRow, JobRow.id == TrackedRunRow.job_id)
        .outerjoin(ModelRow, ModelRow.id == TrackedRunRow.model_id)
        .outerjoin(ABOVE, ABOVE.id == TrackedRunRow.parent_id)
        .outerjoin(OVER, OVER.id == ABOVE.job_id)
    )


def _of_jobs() -> tuple[Any, ...]:
    """Runs that go as a job does, of which something was not told yet."""
    row, job, model = TrackedRunRow, JobRow, ModelRow
    return row.job_id.is_not(None), or_(
        and_(job.attempt > 0, or_(row.told < job.events, row.told_state != job.state)),
        and_(row.version != "", row.crowned != model.champion),
    )


def _of_none() -> tuple[Any, ...]:
    """Nested runs of which something was not told yet; one that was under way ends as its job.

    The second condition says no more than the others do, in the words of the index `OPEN`.
    """
    row = TrackedRunRow
    running: Any = literal_column(f"'{JobState.RUNNING}'")
    behind = row.told < row.figures
    ends = and_(row.state == JobState.RUNNING, OVER.state.in_(FINAL))
    state = case((ends, OVER.state), else_=row.state)
    return (
        func.coalesce(row.job_id, 0) == 0,  # so that no other index seems to be of use
        or_(behind, row.told_state != row.state, row.state == running),
        or_(behind, row.told_state != state),
    )


def _may_tell(me: str, row: Row[Any], there: Container[str]) -> bool:
    """`there` are the machines on which a worker lives."""
    if row.holder != me and _lives(row.holder):
        return False
    trains = holder.parts(row.worker or row.above or me)[0]
    return trains == holder.parts(me)[0] or trains not in there


def _lives(name: str) -> bool:
    """Whether who told of it last is another process of this machine that still lives."""
    same = holder.parts(name)[0] == holder.parts(holder.me())[0]
    return bool(name) and same and not holder.gone(name)
