"""What has changed since it was published, by parts: written by the database itself.

Triggers stand on the published tables while there is a warehouse, so that no writer can forget,
whichever process, statement or repair it is. They name a part once, however many of its rows
change; what stands in it is read when it is loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from backend.storage import tables as rows
from backend.storage.types import now
from backend.warehouse import tables
from backend.warehouse.shapes import RowKind, Span

log = logging.getLogger(__name__)
Row = rows.OutboxRow
NAME = "loupe_publish"
EVENTS = ("INSERT", "UPDATE", "DELETE")
MOST_PARTS = 500  # in one load; SQL takes no condition of any length


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a kind; `gone` where rows of it may have been taken away."""

    kind: str
    head: int
    tail: int
    rows: int
    gone: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is not published yet."""

    rows: int
    oldest: datetime | None
    urgent: bool


def install(session: Session) -> bool:
    """Have every change of a published table noted from now on; tells whether that was new."""
    connection = session.connection()
    wanted = _wanted(connection)
    if _there(connection) == wanted:
        return False
    _drop(connection)
    for statement in wanted.values():
        connection.exec_driver_sql(statement)
    log.info("What changes is noted for the warehouse from now on.")
    return True


def remove(session: Session) -> bool:
    """Note nothing any more; tells whether anything was noted."""
    connection = session.connection()
    if not _there(connection):
        return False
    _drop(connection)
    session.execute(delete(Row))
    return True


def is_installed(session: Session) -> bool:
    """Whether every change is noted."""
    connection = session.connection()
    return _there(connection) == _wanted(connection)


def enlist_all(session: Session, names: Collection[str] = tuple(tables.KINDS)) -> None:
    """All that there is of these kinds waits to be published, as in a warehouse that is new."""
    session.execute(delete(Row).where(Row.taken.is_(None), Row.kind.in_(names)))
    for kind in map(tables.KINDS.__getitem__, names):
        source = kind.changes
        head, tail = (_of_column(source, span) for span in (kind.head, kind.tail))
        found = select(head, tail, func.sum(literal_column(kind.weight))).select_from(source)
        parts = [
            {"kind": kind.name, "head": one, "tail": two, "row_count": count}
            for one, two, count in session.execute(found.group_by(text("1"), text("2")))
        ]
        _add(session, parts)


def enlist(session: Session, kind: str, parts: Mapping[tuple[int, int], int]) -> None:
    """These parts, each with its rows, are to be published anew."""
    _add(
        session,
        [{"kind": kind, "head": h, "tail": t, "row_count": n} for (h, t), n in parts.items()],
    )


def hurry(session: Session) -> int:
    """What waits is to be published at once; returns how many rows that are."""
    session.execute(update(Row).where(Row.taken.is_(None)).values(urgent=True))
    return waiting(session).rows


def waiting(session: Session) -> Waiting:
    """What is not published yet, also what a load has just taken."""
    # A flag is a number on one database and none on the other: the rows that have it are counted.
    urgent = func.count().filter(Row.urgent.is_(True))
    count, oldest, hurried = session.execute(
        select(func.coalesce(func.sum(Row.rows), 0), func.min(Row.at), urgent)
    ).one()
    return Waiting(int(count), oldest, bool(hurried))


def waits(session: Session) -> bool:
    """Whether anything waits that no load has taken."""
    return session.scalar(select(Row.id).where(Row.taken.is_(None)).limit(1)) is not None


def take(session: Session, load: int, most: int) -> list[Part]:
    """Give a load the parts that have waited longest, with about so many rows.

    What is heavy comes last: nobody's results wait until all pictures are there.
    """
    heavy = [kind.name for kind in tables.KINDS.values() if kind.cost > 1]
    found = (
        select(Row.kind, Row.head, Row.tail, func.sum(Row.rows), func.count().filter(Row.gone))
        .where(Row.taken.is_(None))
        .group_by(Row.kind, Row.head, Row.tail)
        .order_by(Row.kind.in_(heavy), func.min(Row.id))
        .limit(MOST_PARTS)
    )
    parts: list[Part] = []
    count = 0
    for kind, head, tail, number, gone in session.execute(found):
        cost = number * tables.KINDS[kind].cost
        if parts and count + cost > most:
            break
        parts.append(Part(kind, head, tail, int(number), bool(gone)))
        count += int(cost)
    if parts:
        _mark(session, load, parts)
    return parts


def give_back(session: Session, load: int) -> None:
    """What a load had taken waits again."""
    session.execute(update(Row).where(Row.taken == load).values(taken=None))


def clear(session: Session, load: int) -> None:
    """What a load had taken is published."""
    session.execute(delete(Row).where(Row.taken == load))


def _mark(session: Session, load: int, parts: Sequence[Part]) -> None:
    table: Any = Row.__table__
    same = [table.c[name] == bindparam(f"_{name}") for name in ("kind", "head", "tail")]
    taken = update(table).where(*same, table.c.taken.is_(None)).values(taken=load)
    values = [{"_kind": one.kind, "_head": one.head, "_tail": one.tail} for one in parts]
    session.connection().execute(taken, values)


def _add(session: Session, parts: Sequence[dict[str, Any]]) -> None:
    common = {"gone": True, "urgent": True, "at": now(), "taken": None}
    if parts:
        table: Any = Row.__table__
        session.connection().execute(insert(table), [{**one, **common} for one in parts])


def _of_column(source: Any, span: Span | None) -> Any:
    if span is None:
        return literal_column("0")
    column = next(one for one in source.columns if one.name == span.column)
    return column if span.size == 1 else literal_column(f"{span.column} / {span.size}")


def _sql(row: str, span: Span | None) -> str:
    if span is None:
        return "0"
    return f"{row}{span.column}" + (f" / {span.size}" if span.size > 1 else "")


def _watched() -> list[Any]:
    return list({kind.changes.name: kind.changes for kind in tables.KINDS.values()}.values())


def _wanted(connection: Connection) -> dict[str, str]:
    """What has to stand in the database, by name: identifiers of ours alone, no values."""
    make = _for_sqlite if connection.dialect.name == "sqlite" else _for_postgresql
    return {name: sql for table in _watched() for name, sql in make(table).items()}


def _for_sqlite(table: Any) -> dict[str, str]:
    """A trigger an event; a part that waits already counts on."""
    found = {}
    for event in EVENTS:
        name = f"{NAME}_{table.name}_{event.lower()}"
        row = "OLD." if event == "DELETE" else "NEW."
        kinds = [one for one in tables.of_changes(table.name) if event != "UPDATE" or one.sources]
        of = ", ".join(f'"{column}"' for one in kinds for column in one.sources)
        when = f"UPDATE OF {of}" if event == "UPDATE" else event
        body = " ".join(_note_in_sqlite(kind, row, event) for kind in kinds)
        found[name] = f'CREATE TRIGGER {name} AFTER {when} ON "{table.name}" BEGIN {body} END'
    return found


def _note_in_sqlite(kind: RowKind, row: str, event: str) -> str:
    head, tail = _sql(row, kind.head), _sql(row, kind.tail)
    weight = kind.weight if kind.weight.isdecimal() else f"{row}{kind.weight}"
    urgent = f"({row}{kind.urgent})" if kind.urgent else "0"
    gone = int(event == "DELETE")
    return (
        f"UPDATE outbox SET row_count = row_count + {weight}, gone = max(gone, {gone}), "
        f"urgent = max(urgent, {urgent}) WHERE kind = '{kind.name}' AND head = {head} "
        f"AND tail = {tail} AND taken IS NULL; "
        "INSERT INTO outbox (kind, head, tail, row_count, gone, urgent, at) "
        f"SELECT '{kind.name}', {head}, {tail}, {weight}, {gone}, {urgent}, "
        "strftime('%Y-%m-%d %H:%M:%f000', 'now') WHERE changes() = 0;"
    )


def _for_postgresql(table: Any) -> dict[str, str]:
    """A trigger an event, once a statement; it only adds rows, so that no writer waits for one."""
    name = f"{NAME}_{table.name}"
    body = " ".join(_note_in_postgresql(kind) for kind in tables.of_changes(table.name))
    function = (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {body} RETURN NULL; END $$"
    )
    found = {name: function}
    given = {"INSERT": "NEW TABLE AS changed", "DELETE": "OLD TABLE AS changed"}
    given["UPDATE"] = "OLD TABLE AS before NEW TABLE AS changed"
    for event in EVENTS:
        found[f"{name}_{event.lower()}"] = (
            f'CREATE TRIGGER {name}_{event.lower()} AFTER {event} ON "{table.name}" '
            f"REFERENCING {given[event]} FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        )
    return found


def _note_in_postgresql(kind: RowKind) -> str:
    head, tail = _sql("changed.", kind.head), _sql("changed.", kind.tail)
    urgent = f"bool_or(changed.{kind.urgent})" if kind.urgent else "false"
    weight = kind.weight if kind.weight.isdecimal() else f"changed.{kind.weight}"
    note = (
        "INSERT INTO outbox (kind, head, tail, row_count, gone, urgent, at) "
        f"SELECT '{kind.name}', {head}, {tail}, sum({weight}), TG_OP = 'DELETE', {urgent}, "
        "now() AT TIME ZONE 'UTC' FROM changed{differs} GROUP BY 2, 3;"
    )
    key = " AND ".join(
        f'before."{column.name}" = changed."{column.name}"'
        for column in kind.changes.primary_key.columns
    )
    was, now_ = (
        ", ".join(f'{row}."{name}"' for name in kind.sources) for row in ("before", "changed")
    )
    differs = f" JOIN before ON {key} WHERE ROW({was}) IS DISTINCT FROM ROW({now_})"
    changed = note.replace("{differs}", differs) if kind.sources else "NULL;"
    return f"IF TG_OP = 'UPDATE' THEN {changed} ELSE {note.replace('{differs}', '')} END IF;"


def _there(connection: Connection) -> dict[str, str]:
    """What of it stands in the database, by name."""
    if connection.dialect.name == "sqlite":
        found = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE :name"
        named = {"name": f"{NAME}%"}
        return {name: sql for name, sql in connection.execute(text(found), named)}
    bodies = text(
        "SELECT proname, prosrc FROM pg_proc WHERE proname LIKE :name "
        "AND pronamespace = current_schema()::regnamespace"
    )
    triggers = text(
        "SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
        "WHERE t.tgname LIKE :name AND c.relnamespace = current_schema()::regnamespace"
    )
    named = {"name": f"{NAME}%"}
    kept = _wanted(connection)
    found_ = {n: _kept(kept.get(n, ""), body) for n, body in connection.execute(bodies, named)}
    return found_ | {n: kept.get(n, "") for n in connection.scalars(triggers, named)}


def _kept(wanted: str, body: str) -> str:
    """PostgreSQL keeps a function's body alone."""
    return wanted if f"$${body}$$" in wanted else body


def _drop(connection: Connection) -> None:
    lite = connection.dialect.name == "sqlite"
    for table in _watched():
        name = f"{NAME}_{table.name}"
        for event in EVENTS:
            on = "" if lite else f' ON "{table.name}"'
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}_{event.lower()}{on}")
        if not lite:
            connection.exec_driver_sql(f"DROP FUNCTION IF EXISTS {name}()")
