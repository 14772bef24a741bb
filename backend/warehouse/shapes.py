"""The shape of what is published: columns, keys, and how a kind of row is cut into parts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import false

PREFIX = "loupe_"
STANDING = "_now"


class Type(StrEnum):
    """What a column holds."""

    WHOLE = "whole"
    REAL = "real"
    TEXT = "text"
    FLAG = "flag"
    MOMENT = "moment"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the warehouse; `source` is the column of ours, where it is one."""

    name: str
    type: Type
    source: Any = None


@dataclass(frozen=True, slots=True)
class Span:
    """How a number of a key is cut into parts: so many to one part."""

    column: str
    size: int = 1


@dataclass(frozen=True, slots=True)
class RowKind:
    """One kind of row that is published.

    Its parts follow from `head` and `tail`. What changes in `watched` concerns it, with as many
    rows as `weight` says, and at once where `urgent` (SQL over a row of it) holds. One of its rows
    takes as much of a load as `cost` others.
    """

    name: str
    row: Any
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    head: Span
    tail: Span | None = None
    watched: Any = None
    weight: str = "1"
    urgent: str = ""
    removed: Any = None
    cost: int = 1

    @property
    def table(self) -> str:
        """What the warehouse calls it."""
        return f"{PREFIX}{self.name}"

    @property
    def view(self) -> str:
        """What shows those that stand."""
        return f"{self.table}{STANDING}"

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Its columns, with what every published row has."""
        return (*self.columns, VERSION, DELETED)

    @property
    def names(self) -> list[str]:
        """The names of all its columns."""
        return [column.name for column in self.all_columns]

    @property
    def heavy(self) -> list[str]:
        """The columns of bytes, which do not outlive their row."""
        return [column.name for column in self.columns if column.type is Type.BYTES]

    @property
    def changes(self) -> Any:
        """The table of ours whose changes concern it."""
        return (self.watched or self.row).__table__

    @property
    def sources(self) -> list[str]:
        """The columns of ours whose change is a change of it; none where they never change."""
        if self.watched is not None:
            return []
        used = [column.source for column in self.columns if column.source is not None]
        return [one.property.columns[0].name for one in [*used, self.removed] if one is not None]

    @property
    def gone(self) -> Any:
        """Whether a row that is there counts as deleted."""
        return false() if self.removed is None else self.removed.is_not(None)

    def source(self, name: str) -> Any:
        """The column of ours behind a column of the warehouse."""
        return next(column.source for column in self.columns if column.name == name)


VERSION = Column("version", Type.WHOLE)
DELETED = Column("deleted", Type.FLAG)
