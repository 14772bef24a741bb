"""Whether a database is one of ours, before anything is written into it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect

from backend.errors import Unavailable

MAGIC = b"SQLite format 3\0"
VERSIONS = "alembic_version"
OURS = "project"


def check_file(opened: Engine) -> None:
    """Refuse a SQLite file that is none, is cut short, or belongs to another program."""
    path = Path(str(opened.url.database))
    if opened.dialect.name != "sqlite" or "uri" in opened.url.query or not path.is_file():
        return
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as error:
        raise Unavailable(f"The database {path} cannot be read: {error.strerror}.") from error
    if not head:
        return  # a new one
    if not head.startswith(MAGIC):
        raise Unavailable(
            f"The file {path} is no database of SQLite, so it is left as it is. "
            "Is LOUPE_DATABASE_URL right?"
        )
    if path.stat().st_size < _said(head) and not _has_log(path):
        raise Unavailable(f"The database {path} is cut short: bring a whole copy of it back.")
    _check_names(path, _names(path))


def check_tables(connection: Connection) -> None:
    """Refuse to make our tables among those of another program that bear their names."""
    names = set(inspect(connection).get_table_names())
    if OURS in names and VERSIONS not in names:
        raise _foreign(connection.engine.url.render_as_string())


def _check_names(path: Path, names: set[str]) -> None:
    if names and not {OURS, VERSIONS} <= names and names != {VERSIONS}:
        raise _foreign(str(path))


def _names(path: Path) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    try:
        with closing(sqlite3.connect(path)) as reading:
            return {name for (name,) in reading.execute(query)}
    except sqlite3.Error as error:
        raise Unavailable(
            f"The database {path} cannot be read ({error}): bring a whole copy of it back."
        ) from error


def _foreign(named: str) -> Unavailable:
    return Unavailable(
        f"The database {named} holds the tables of another program, so it is left as it is. "
        "Name one for Loupe alone with LOUPE_DATABASE_URL."
    )


def _said(head: bytes) -> int:
    """How long the file says that it is."""
    page = int.from_bytes(head[16:18], "big")
    return (65_536 if page == 1 else page) * int.from_bytes(head[28:32], "big")


def _has_log(path: Path) -> bool:
    """Whether pages may still wait beside the file to be written into it."""
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0
