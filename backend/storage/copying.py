"""Every row of one database into another that has the same tables, whichever kinds the two are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    Connection,
    ForeignKeyConstraint,
    MetaData,
    Table,
    delete,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.schema import AddConstraint, DropConstraint

PART = 5_000
# Alembic's own; the target has been given its tables, and so this row.
VERSION = "alembic_version"


def rows(source: Connection, target: Connection) -> int:
    """Copy all rows within the transactions of the two; returns how many there were."""
    tables = _tables(target)
    references = _loosened(target, tables)
    copied = sum(_copy(source, target, table) for table in tables)
    _tightened(target, references)
    return copied


def emptied(target: Connection) -> None:
    """Take away what a house that nobody has used yet keeps for itself, such as a cookie's key."""
    for table in reversed(_tables(target)):
        target.execute(delete(table))


def _tables(target: Connection) -> list[Table]:
    metadata = MetaData()
    metadata.reflect(target)
    return [table for table in metadata.sorted_tables if table.name != VERSION]


def _copy(source: Connection, target: Connection, table: Table) -> int:
    count = 0
    found = source.execution_options(yield_per=PART).execute(select(table))
    for part in found.mappings().partitions(PART):
        target.execute(insert(table), [dict(row) for row in part])
        count += len(part)
    if count:
        _count_on(target, table)
    return count


def _loosened(target: Connection, tables: Iterable[Table]) -> list[ForeignKeyConstraint]:
    """Let rows lead to rows that are still to come, until the transaction's end."""
    if target.dialect.name == "sqlite":
        target.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        return []
    found = [one for table in tables for one in table.foreign_key_constraints]
    for constraint in found:
        target.execute(DropConstraint(constraint))
    return found


def _tightened(target: Connection, references: Iterable[ForeignKeyConstraint]) -> None:
    for constraint in references:
        target.execute(AddConstraint(constraint))


def _count_on(target: Connection, table: Table) -> None:
    """PostgreSQL's own numbers go on after the highest that was copied."""
    if target.dialect.name != "postgresql":
        return
    for column in table.primary_key:
        named = {"table": f'"{table.name}"', "column": column.name}
        sequence = target.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), named)
        if sequence:
            highest: Any = select(func.max(column)).scalar_subquery()
            target.execute(select(func.setval(sequence, highest)))
