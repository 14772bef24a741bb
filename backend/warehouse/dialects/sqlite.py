"""A SQLite file as the warehouse: rows go in by executemany, in one transaction a load."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backend.errors import Unavailable
from backend.warehouse import queries
from backend.warehouse.address import SETTING, Address
from backend.warehouse.dialects import base
from backend.warehouse.queries import Answer
from backend.warehouse.reading import Rows
from backend.warehouse.shapes import RowKind, Type
from backend.warehouse.tables import KINDS

# Tables, and views that somebody else has made: ours ask what is called loupe_.
TAKEN = (
    "SELECT name FROM sqlite_master "
    "WHERE type = 'table' OR (type = 'view' AND lower(sql) NOT LIKE '%loupe_%')"
)
TYPES = {
    Type.WHOLE: "INTEGER",
    Type.REAL: "REAL",
    Type.TEXT: "TEXT",
    Type.FLAG: "BOOLEAN",
    Type.MOMENT: "TIMESTAMP",
    Type.BYTES: "BLOB",
}
PATIENCE = 30.0  # seconds


class Sqlite:
    """A warehouse in a file."""

    def __init__(self, address: Address) -> None:
        self.path = Path(str(address.url.database))
        self.statements = 0
        self._is_new = True
        self._inserted = 0
        with self._told():
            self.connection = sqlite3.connect(self.path, PATIENCE, isolation_level=None)
            self._do("PRAGMA journal_mode=WAL")
            self._do("PRAGMA synchronous=NORMAL")

    def lay(self) -> None:
        for kind in KINDS.values():
            self._do(base.create(kind, TYPES, key=True))
            known = {row[1] for row in self._do(f"PRAGMA table_info({kind.table})")}
            for one in kind.all_columns:
                if one.name not in known:
                    self._do(f"ALTER TABLE {kind.table} ADD COLUMN {one.name} {TYPES[one.type]}")
        taken = [name for (name,) in self._do(TAKEN)]
        for name, select in base.shown("sqlite", taken).items():
            self._do(f"DROP VIEW IF EXISTS {name}")
            self._do(f"CREATE VIEW {name} AS {select}")

    def tables(self) -> set[str]:
        found = self._do("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found}

    def newest(self) -> int:
        return self._one(base.newest()) or 0

    def heads(self, kind: RowKind) -> list[tuple[int, int]]:
        return list(self._do(base.parts(kind, "{column} / {size}")))

    def pictures(self) -> Iterator[tuple[Any, ...]]:
        return self._do(base.pictures())

    def stage(self, kind: RowKind, version: int) -> None:  # noqa: ARG002
        self._inserted = 0
        self._is_new = True  # until a row is met that is there: to insert alone is faster
        if not self.connection.in_transaction:
            self._do("BEGIN IMMEDIATE")

    def add(self, kind: RowKind, rows: Rows) -> None:
        values = f"VALUES ({', '.join('?' for _ in kind.names)})"
        with self._told():
            if not (self._is_new and self._fits(kind, values, rows)):
                self._write(base.upsert(kind, values), kind, rows)

    def staged(self, kind: RowKind, version: int) -> None:
        """They are in their table already."""

    def merge(self, kind: RowKind, version: int, gone: Sequence[base.Range]) -> None:
        if gone:
            where, values = base.condition(gone, "?")
            self._do(
                f"UPDATE {kind.table} SET {base.gone(kind)}, version = ? "
                f"WHERE version < ? AND ({where})",
                [version, version, *values],
            )

    def count(self, kind: RowKind, version: int, among: Sequence[base.Range]) -> int:
        if self._is_new and kind.removed is None:
            return self._inserted  # all in this transaction: nobody else can have written
        return int(self._one(*base.standing(kind, version, among, "?")))

    def commit(self) -> None:
        self._do("COMMIT")

    def sweep(self, version: int, kinds: Sequence[str]) -> None:
        """What was staged has gone with its transaction."""

    def ask(self, sql: str, values: Mapping[str, Any]) -> Answer:
        with self._told():
            found = self.connection.execute(sql, values)
            return queries.answer([one[0] for one in found.description], found.fetchall())

    def _fits(self, kind: RowKind, values: str, rows: Rows) -> bool:
        try:
            self._write(f"INSERT INTO {kind.table} ({', '.join(kind.names)}) {values}", kind, rows)
        except sqlite3.IntegrityError:
            # What went in before the first that is there has this version: it stays as it is.
            self._is_new = False
        return self._is_new

    def _write(self, told: str, kind: RowKind, rows: Rows) -> None:
        self.statements += 1
        self._inserted += self.connection.executemany(told, _plain(kind, rows)).rowcount

    def check(self) -> dict[str, Any]:
        version = self._one("SELECT sqlite_version()")
        return {"who": "", "where": str(self.path), "version": f"SQLite {version}", "missing": []}

    def close(self) -> None:
        self.connection.close()

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._do(sql, values).fetchone()[0]

    def _do(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        self.statements += 1
        with self._told():
            return self.connection.execute(sql, values)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise Unavailable(
                f"The warehouse {self.path} cannot be written: {error}. Is {SETTING} right?"
            ) from error


def _plain(kind: RowKind, rows: Rows) -> Iterable[tuple[Any, ...]]:
    """SQLite's driver has no moments of its own any more."""
    moments = [at for at, one in enumerate(kind.all_columns) if one.type is Type.MOMENT]
    return (_with_text(row, moments) for row in rows) if moments else map(tuple, rows)


def _with_text(row: tuple[Any, ...], moments: Sequence[int]) -> tuple[Any, ...]:
    values = list(row)
    for at in moments:
        values[at] = None if values[at] is None else str(values[at])
    return tuple(values)
