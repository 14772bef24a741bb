"""What is asked of a database while something is done: every statement, and who holds the lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from backend.storage.engine import Database


@contextmanager
def heard(database: Database) -> Iterator[list[str]]:
    """The statements as they come."""
    found: list[str] = []

    def hear(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        found.append(statement)

    event.listen(database.engine, "before_cursor_execute", hear)
    try:
        yield found
    finally:
        event.remove(database.engine, "before_cursor_execute", hear)
