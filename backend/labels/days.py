"""Days as addresses name them, and which images came on them (UTC)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ColumnElement

from backend.errors import Invalid
from backend.storage.tables import ImageRow

FIRST, LAST = 1900, 2999


def day(text: str) -> date | None:
    """The day that an address names, if it names one."""
    if not text:
        return None
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise Invalid(f"A day is written as 2026-11-20, not {text[:40]!r}.") from error
    if not FIRST <= found.year <= LAST:
        raise Invalid(f"A day lies in one of the years {FIRST} to {LAST}, not {text[:40]!r}.")
    return found


def came(since: date | None, until: date | None) -> list[ColumnElement[bool]]:
    """Images that came into their project from one day to another."""
    parts: list[ColumnElement[bool]] = []
    if since:
        parts.append(ImageRow.added >= _midnight(since))
    if until:
        parts.append(ImageRow.added < _midnight(until) + timedelta(days=1))
    return parts


def _midnight(at: date) -> datetime:
    return datetime.combine(at, time(), UTC)
