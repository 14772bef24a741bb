"""The loads: who publishes at this moment, what was published, and what went wrong.

One load runs at a time. It is held as a job is: its holder counts heartbeats, and who takes over
from a dead or silent one ends its load first, so that what it still does is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.errors import LeaseLost
from backend.jobs import holder
from backend.storage import tables
from backend.storage.tables import SettingRow
from backend.storage.types import now
from backend.warehouse import outbox

Row = tables.LoadRow
LAID = "warehouse"  # the setting that says where the tables stand, and in which layout
KEPT = 1_000  # loads that are remembered
FIRST_REST, LONGEST_REST = timedelta(seconds=30), timedelta(minutes=15)


class LoadState(StrEnum):
    """The states of a load."""

    RUNNING = "running"
    LOADED = "loaded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Load:
    """A load; `rows` counts what each kind had, `version` stands in each of its rows."""

    id: int
    state: LoadState
    step: str
    holder: str
    beats: int
    version: int
    started: datetime
    finished: datetime | None
    rows: Mapping[str, int]
    statements: int
    seconds: float
    error: str


def begin(session: Session) -> Load | None:
    """Begin a load, unless another one runs."""
    if running(session) is not None:
        return None
    row = Row(state=LoadState.RUNNING, holder=holder.me(), step="connecting", version=0)
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:  # another loader began at this very moment
        return None
    row.version = max(row.id, 1 + newest(session))
    session.flush()
    _forget(session)
    return _load(row)


def running(session: Session) -> Load | None:
    """The load that runs, if one does."""
    row = session.scalar(select(Row).where(Row.state == LoadState.RUNNING))
    return None if row is None else _load(row)


def newest(session: Session) -> int:
    """The highest version that a load has had."""
    return session.scalar(select(Row.version).order_by(Row.version.desc()).limit(1)) or 0


def loads(session: Session, most: int) -> list[Load]:
    """The newest loads."""
    rows = session.scalars(select(Row).order_by(Row.id.desc()).limit(most))
    return [_load(row) for row in rows]


def since(session: Session, moment: datetime) -> list[Load]:
    """The loads that began after a moment."""
    return [_load(row) for row in session.scalars(select(Row).where(Row.started >= moment))]


def last_loaded(session: Session) -> Load | None:
    """The newest load that has come to its end."""
    query = select(Row).where(Row.state == LoadState.LOADED).order_by(Row.id.desc()).limit(1)
    row = session.scalar(query)
    return None if row is None else _load(row)


def fence(session: Session, load: Load) -> None:
    """Stand before what only the one loader may do; it is refused where another has taken over."""
    if session.scalar(select(Row.id).where(*_held(load)).with_for_update()) is None:
        raise _lost(load)


def beat(session: Session, load: Load) -> None:
    """Show that the loader lives."""
    _change(session, load, beats=Row.beats + 1)


def step(session: Session, load: Load, name: str, **values: Any) -> None:
    """What the loader does now."""
    _change(session, load, step=name, beats=Row.beats + 1, **values)


def outrun(session: Session, load: Load, newest: int) -> Load:
    """The load is newer than all that stands in a warehouse, also one of a restored home."""
    _change(session, load, version=newest + 1)
    return replace(load, version=newest + 1)


def finish(session: Session, load: Load, rows: Mapping[str, int], statements: int) -> None:
    """All that the load took is in the warehouse."""
    outbox.clear(session, load.id)
    values = {"step": "loaded", "row_counts": dict(rows), "statements": statements}
    _change(session, load, state=LoadState.LOADED, **_ended(load), **values)


def fail(session: Session, load: Load, reason: str, statements: int) -> None:
    """The load ends here; what it took waits again."""
    outbox.give_back(session, load.id)
    values = {"error": reason, "statements": statements}
    _change(session, load, state=LoadState.FAILED, **_ended(load), **values)


def take_over(session: Session, load: Load, reason: str) -> bool:
    """End the load of a loader that is dead or silent, unless its heart has beaten since."""
    where = (*_held(load), Row.beats == load.beats)
    values = {"state": LoadState.FAILED, "error": reason, **_ended(load)}
    ended = session.execute(update(Row).where(*where).values(_named(values)))
    if not ended.rowcount:  # type: ignore[attr-defined]
        return False
    outbox.give_back(session, load.id)
    return True


def rests_until(session: Session) -> datetime | None:
    """When the next load may begin: pauses grow with each failure after the last success."""
    failed: list[Load] = []
    for one in loads(session, 10):
        if one.state is LoadState.LOADED:
            break
        if one.state is LoadState.FAILED:
            failed.append(one)
    if not failed or failed[0].finished is None:
        return None
    rest: timedelta = min(FIRST_REST * 2 ** (len(failed) - 1), LONGEST_REST)
    return failed[0].finished + rest


def unswept(session: Session) -> list[Load]:
    """The loads of which something may be left in the warehouse, in the kinds of its rows."""
    query = select(Row).where(Row.swept.is_(False), Row.state != LoadState.RUNNING)
    return [_load(row) for row in session.scalars(query)]


def is_broken_off(session: Session) -> bool:
    """Whether a loader has died, here, in the midst of it."""
    load = running(session)
    return bool(unswept(session)) or (load is not None and holder.gone(load.holder))


def swept(session: Session, ids: Sequence[int]) -> None:
    """Nothing is left of these loads."""
    session.execute(update(Row).where(Row.id.in_(ids)).values(swept=True))


def laid(session: Session) -> str:
    """Where the warehouse's tables stand, and in which layout, as far as it is known."""
    row = session.get(SettingRow, LAID)
    return row.value if row else ""


def set_laid(session: Session, place: str) -> None:
    """Remember where the warehouse's tables stand; nothing: they are to be looked at."""
    session.execute(delete(SettingRow).where(SettingRow.name == LAID))
    if place:
        session.add(SettingRow(name=LAID, value=place))
    session.flush()


def _change(session: Session, load: Load, **values: Any) -> None:
    changed = session.execute(update(Row).where(*_held(load)).values(_named(values)))
    if not changed.rowcount:  # type: ignore[attr-defined]
        raise _lost(load)


def _named(values: Mapping[str, Any]) -> dict[Any, Any]:
    return {(Row.rows if name == "row_counts" else name): value for name, value in values.items()}


def _ended(load: Load) -> dict[str, Any]:
    return {"finished": now(), "seconds": (now() - load.started).total_seconds()}


def _held(load: Load) -> tuple[ColumnElement[bool], ...]:
    return (Row.id == load.id, Row.holder == load.holder, Row.state == LoadState.RUNNING)


def _lost(load: Load) -> LeaseLost:
    return LeaseLost(f"Load {load.id} of the warehouse is no longer held by this loader.")


def _forget(session: Session) -> None:
    """The ledger does not grow for ever."""
    old = select(Row.id).order_by(Row.id.desc()).offset(KEPT).limit(1)
    if (last := session.scalar(old)) is not None:
        session.execute(delete(Row).where(Row.id <= last, Row.swept.is_(True)))


def _load(row: tables.LoadRow) -> Load:
    values = {name: getattr(row, name) for name in Load.__slots__}
    return Load(**{**values, "state": LoadState(row.state), "rows": dict(row.rows)})
