"""Homes for tests: databases as earlier versions left them, each a dump of SQLite; whole ones."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import Boolean, Connection, MetaData, Table, create_engine, text
from sqlalchemy.types import TypeEngine

from backend.storage import upgrading

HERE = Path(__file__).parent
# Two drawn projects: boards with a golden model, its run, an evaluation, a rule with thresholds,
# ten decisions, and `short` renamed to `short circuit` after all that; faces, all labelled.
FIRST = "first"
FIRST_REVISION = "0001"


def lay(name: str, url: str) -> None:
    """Make the database at that URL what the dump says, in the tables of its own time."""
    if url.startswith("sqlite:///"):
        _dumped(name, url.removeprefix("sqlite:///")).close()
        return
    opened = create_engine(url)
    with opened.begin() as connection:
        command.upgrade(upgrading.config(connection), FIRST_REVISION)
    with opened.begin() as connection:
        _copy(_dumped(name, ":memory:"), connection)
    opened.dispose()


def _dumped(name: str, path: str) -> sqlite3.Connection:
    made = sqlite3.connect(path)
    made.executescript((HERE / f"{name}.sql").read_text())
    made.row_factory = sqlite3.Row
    return made


def _copy(source: sqlite3.Connection, target: Connection) -> None:
    """The rows of every table; PostgreSQL checks its references at the end of it all."""
    target.execute(text("SET session_replication_role = replica"))
    there = MetaData()
    there.reflect(target)
    for table in there.sorted_tables:
        rows = [dict(row) for row in source.execute(f'SELECT * FROM "{table.name}"')]
        if rows and table.name != "alembic_version":
            target.execute(_plain(table), [_typed(row, table) for row in rows])
            _count_on(target, table)
    source.close()


def _plain(table: Table) -> Any:
    """An insert that leaves it to PostgreSQL to read texts as moments and documents."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    values = ", ".join(f":{column.name}" for column in table.columns)
    return text(f'INSERT INTO "{table.name}" ({names}) VALUES ({values})')


def _typed(row: dict[str, Any], table: Table) -> dict[str, Any]:
    kinds: dict[str, TypeEngine[Any]] = {one.name: one.type for one in table.columns}
    return {
        name: bool(value) if isinstance(kinds[name], Boolean) and value is not None else value
        for name, value in row.items()
    }


def _count_on(target: Connection, table: Table) -> None:
    if "id" not in table.columns:
        return
    sequence = target.scalar(
        text("SELECT pg_get_serial_sequence(:name, 'id')"), {"name": f'"{table.name}"'}
    )
    if sequence:
        target.execute(
            text(f'SELECT setval(:sequence, (SELECT max(id) FROM "{table.name}"))'),
            {"sequence": sequence},
        )
