"""What the disk and the database say when they fail, as sentences of ours."""

from __future__ import annotations

import errno
import sqlite3

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

SAFE = "Nothing that was saved is lost"
_CROSSED = "Two changes stood in each other's way, and this one was not made."
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# What SQLite says, and what that means for the person who can act on it.
_SQLITE = (
    ("disk is full", f"The disk is full. {SAFE}: make room and try again."),
    ("locked", f"The database is locked by another program. {SAFE}: try again."),
    ("readonly", f"The database cannot be written: it, or its folder, is read-only. {SAFE}."),
    ("disk i/o error", f"The disk of the database does not take or give what it should. {SAFE}."),
    ("unable to open", "The database's file cannot be opened: is it there, and may it be read?"),
    ("malformed", "The database's file is damaged: stop Loupe and bring a backup back."),
    ("not a database", "The database's file is none of SQLite's any more: bring a backup back."),
)


def sentence(error: BaseException) -> str:
    """What has failed and what is safe; empty where it is no outage of the disk or the database."""
    if isinstance(error, OSError):
        return _of_disk(error) if error.errno in _FULL else ""
    if isinstance(error, NoConnection):
        return f"The database has no connection left. {SAFE}: try again."
    if not isinstance(error, DBAPIError):
        return ""
    if isinstance(error.orig, sqlite3.Error):
        said = str(error.orig).lower()
        return next((told for words, told in _SQLITE if words in said), "")
    away = isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
    return _of_server(error) if away else ""


def is_full(error: BaseException) -> bool:
    """Whether the disk is full."""
    return "disk" in (told := sentence(error)) and "is full" in told


def reason(error: DBAPIError) -> str:
    """The driver's words, once: psycopg says of each address what it tried, and all of it twice."""
    lines = [" ".join(line.split()) for line in str(error.orig).splitlines() if line.strip()]
    return (lines or [type(error.orig).__name__])[0].rpartition(" failed: ")[2].rstrip(".")


def _of_disk(error: OSError) -> str:
    where = f" (writing {error.filename})" if error.filename else ""
    return f"The disk is full{where}. {SAFE}: make room and try again."


def _of_server(error: DBAPIError) -> str:
    if "No space left" in str(error.orig) or "disk full" in str(error.orig).lower():
        return f"The disk of the database is full. {SAFE}: make room and try again."
    if "deadlock" in str(error.orig).lower():
        return (
            f"Two changes stood in each other's way, and this one was not made. {SAFE}: try again."
        )
    return f"The database does not answer: {reason(error)}. {SAFE}: try again when it is back."
