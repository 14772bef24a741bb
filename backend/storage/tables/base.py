"""What all tables share: one list of them, their types, and keys that never come again."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Index, LargeBinary, Text, text
from sqlalchemy.orm import DeclarativeBase

from backend.storage.types import Json, Moment

TYPES: dict[Any, Any] = {
    datetime: Moment,
    dict[str, Any]: Json,
    list[Any]: Json,
    str: Text,
    bytes: LargeBinary,
}


class Base(DeclarativeBase):
    type_annotation_map: ClassVar[dict[Any, Any]] = TYPES


# A number that exports, reports and addresses may name means nothing else later.
NEVER_AGAIN = {"sqlite_autoincrement": True}


def unique_where(name: str, condition: str, *columns: str) -> Index:
    """A unique index over the rows that meet a condition."""
    return _where(name, condition, *columns, unique=True)


def index_where(name: str, condition: str, *columns: str) -> Index:
    """An index over the rows that meet a condition, where they are few of many."""
    return _where(name, condition, *columns, unique=False)


def _where(name: str, condition: str, *columns: str, unique: bool) -> Index:
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)
