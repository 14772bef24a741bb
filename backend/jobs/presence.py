"""Which worker processes live, and the cluster as each sees it; written by them, read by pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from typing_extensions import TypedDict  # pydantic reads typing's own from Python 3.12 on only

from backend.jobs import holder
from backend.storage import engine, tables
from backend.storage.types import now

Row = tables.WorkerRow
# Two machines' clocks may differ by minutes; who is silent for longer than this is not there.
SILENT = timedelta(minutes=10)


class Amounts(TypedDict):
    """What a machine, or what is free of it, can carry."""

    cores: float
    gpus: float
    memory_gb: float


class Node(Amounts):
    """A machine of the cluster; `jobs` has the processes of each job, `others` those of others.

    `kind` is what its cluster calls its type, if it has any.
    """

    name: str
    kind: str
    free: Amounts
    jobs: dict[str, int]
    others: int


class Sight(TypedDict, total=False):
    """A worker's jobs and its cluster: off, starting or ready.

    `cards` is whether its jobs could come by a card at all, `temp_mb` what the files take that Ray
    keeps on its machine.
    """

    state: str
    address: str
    cards: bool
    temp_mb: float
    jobs: list[int]
    nodes: list[Node]
    free: Amounts


@dataclass(frozen=True, slots=True)
class Presence:
    """A worker process, and what it sees."""

    name: str
    host: str
    pid: int
    started: datetime
    seen: datetime
    sees: Sight


def show(session: Session, name: str, sees: Sight) -> None:
    """This worker lives, and this is what it sees."""
    host, pid = holder.parts(name)
    engine.insert_new(
        session,
        Row,
        [{"id": name, "host": host, "pid": pid, "started": now(), "seen": now(), "cluster": {}}],
    )
    values = {"seen": now(), "cluster": dict(sees)}
    session.execute(update(Row).where(Row.id == name).values(**values))


def leave(session: Session, name: str) -> None:
    """This worker ends."""
    session.execute(delete(Row).where(Row.id == name))


def forget_dead(session: Session) -> None:
    """Remove those that died without a word."""
    for row in session.scalars(select(Row)).all():
        if not _lives(row):
            session.execute(delete(Row).where(Row.id == row.id))


def living(session: Session) -> list[Presence]:
    """Every worker that lives, as far as one can tell from here."""
    rows = session.scalars(select(Row).order_by(Row.started)).all()
    return [
        Presence(row.id, row.host, row.pid, row.started, row.seen, cast(Sight, row.cluster))
        for row in rows
        if _lives(row)
    ]


def _lives(row: tables.WorkerRow) -> bool:
    return not holder.gone(row.id) and abs(now() - row.seen) < SILENT
