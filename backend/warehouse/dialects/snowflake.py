"""Snowflake as the warehouse: Parquet → PUT → COPY into a staging table → one MERGE, in bulk.

No key is enforced there. What keeps rows single is that one load runs at a time, and that who
takes over from another first drops its staging table: a MERGE that wakes late finds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from backend.errors import Unavailable
from backend.warehouse import queries
from backend.warehouse.address import Address
from backend.warehouse.dialects import base
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from backend.warehouse.queries import Answer
from backend.warehouse.reading import Rows
from backend.warehouse.shapes import DELETED, VERSION, RowKind, Type
from backend.warehouse.tables import KINDS

TYPES = {
    Type.WHOLE: "NUMBER(38, 0)",
    Type.REAL: "FLOAT",
    Type.TEXT: "VARCHAR",
    Type.FLAG: "BOOLEAN",
    Type.MOMENT: "TIMESTAMP_NTZ",
    Type.BYTES: "BINARY",
}
ARROW = {
    Type.WHOLE: pa.int64(),
    Type.REAL: pa.float64(),
    Type.TEXT: pa.string(),
    Type.FLAG: pa.bool_(),
    Type.MOMENT: pa.timestamp("us"),
    Type.BYTES: pa.binary(),
}
# Tables, and views that somebody else has made: ours ask what is called loupe_. What a view asks
# is told to its owner alone.
TAKEN = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = CURRENT_SCHEMA() AND table_type = 'BASE TABLE' "
    "UNION ALL SELECT table_name FROM information_schema.views "
    "WHERE table_schema = CURRENT_SCHEMA() AND LOWER(table_name) NOT LIKE 'loupe_%' "
    "AND LOWER(COALESCE(view_definition, '')) NOT LIKE '%loupe_%'"
)
GROUP = 100_000  # rows that are held in memory
HELD = 64 << 20  # bytes that are
LARGEST = 200 << 20  # bytes of one file, about
# As they are: a moment is no number, and bytes are no text.
FORM = "TYPE = PARQUET USE_LOGICAL_TYPE = TRUE BINARY_AS_TEXT = FALSE"
COPY = f"FILE_FORMAT = ({FORM}) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE PURGE = TRUE"


class Snowflake:
    """A warehouse in the cloud."""

    def __init__(self, address: Address, scratch: Path) -> None:
        self.statements = 0
        self.scratch = scratch
        self._writer: Any = None
        self._version = self._size = 0
        self._held: list[Any] = []
        self.connection = SnowflakeConnection(address)

    def lay(self) -> None:
        there = self._columns()
        for kind in KINDS.values():
            known = there.get(kind.table)
            if known is None:
                self._do(base.create(kind, TYPES, key=False))
                continue
            for one in kind.all_columns:
                if one.name not in known:
                    self._do(f"ALTER TABLE {kind.table} ADD COLUMN {one.name} {TYPES[one.type]}")
        for name, select in base.shown("snowflake", [name for (name,) in self._do(TAKEN)]).items():
            # Who may read a view today may read it after an upgrade, too.
            self._do(f"CREATE OR REPLACE VIEW {name} COPY GRANTS AS {select}")

    def tables(self) -> set[str]:
        return set(self._columns())

    def newest(self) -> int:
        return int(self._one(base.newest()) or 0)

    def heads(self, kind: RowKind) -> list[tuple[int, int]]:
        # As our databases divide: towards nought.
        found = self._do(base.parts(kind, "TRUNC({column} / {size})"))
        return [(int(one), int(two)) for one, two in found]

    def pictures(self) -> Iterator[tuple[Any, ...]]:
        self.statements += 1
        return self.connection.stream(base.pictures())

    def stage(self, kind: RowKind, version: int) -> None:
        columns = ", ".join(f"{one.name} {TYPES[one.type]}" for one in kind.all_columns)
        self._do(f"CREATE OR REPLACE TRANSIENT TABLE {_staging(kind.name, version)} ({columns})")
        self._begin(kind, version)

    def add(self, kind: RowKind, rows: Rows) -> None:
        if not rows:
            return
        arrays = [
            pa.array(values, ARROW[one.type])
            for values, one in zip(zip(*rows, strict=True), kind.all_columns, strict=True)
        ]
        self._held.append(pa.Table.from_arrays(arrays, names=kind.names))
        held = sum(one.nbytes for one in self._held)
        if held < HELD and sum(map(len, self._held)) < GROUP:
            return
        self._write()
        self._size += held
        if self._size >= LARGEST:
            self._put(kind, self._version)
            self._begin(kind, self._version)

    def staged(self, kind: RowKind, version: int) -> None:
        self._write()
        self._put(kind, version)
        staging = _staging(kind.name, version)
        self._do(f"COPY INTO {staging} FROM @%{staging} {COPY}")

    def merge(self, kind: RowKind, version: int, gone: Sequence[base.Range]) -> None:
        staging, keys, names = _staging(kind.name, version), kind.key, ", ".join(kind.names)
        source = (
            f"SELECT {names} FROM {staging} QUALIFY row_number() "
            f"OVER (PARTITION BY {', '.join(keys)} ORDER BY version DESC) = 1"
        )
        values: list[Any] = []
        if gone:
            more, values = _tombstones(kind, version, staging, gone)
            source += f" UNION ALL {more}"
        same = " AND ".join(f"t.{name} = s.{name}" for name in keys)
        news = ", ".join(f"{name} = s.{name}" for name in kind.names if name not in keys)
        self._do(
            f"MERGE INTO {kind.table} t USING ({source}) s ON {same} "
            f"WHEN MATCHED AND s.version > t.version THEN UPDATE SET {news} "
            f"WHEN NOT MATCHED THEN INSERT ({names}) "
            f"VALUES ({', '.join(f's.{name}' for name in kind.names)})",
            values,
        )

    def count(self, kind: RowKind, version: int, among: Sequence[base.Range]) -> int:
        return int(self._one(*base.standing(kind, version, among, "%s")))

    def commit(self) -> None:
        """Each MERGE is a transaction of its own."""

    def sweep(self, version: int, kinds: Sequence[str]) -> None:
        # The files of a table's own stage go with it.
        for kind in kinds:
            self._do(f"DROP TABLE IF EXISTS {_staging(kind, version)}")

    def ask(self, sql: str, values: Mapping[str, Any]) -> Answer:
        columns, rows = self.connection.table(queries.bound(sql) if values else sql, values)
        return queries.answer([one.lower() for one in columns], rows)

    def check(self) -> dict[str, Any]:
        told = "CURRENT_USER(), CURRENT_DATABASE(), CURRENT_SCHEMA(), CURRENT_VERSION()"
        who, database, schema, version = self._do(f"SELECT {told}")[0]
        missing = [
            sentence
            for asked, sentence in (
                (database, "no database is in use: name one in the URL or in connections.toml"),
                (schema, "no schema is in use: name one in the URL or in connections.toml"),
            )
            if not asked
        ]
        missing += self._tried()
        where = f"{database}.{schema}"
        return {"who": who, "where": where, "version": f"Snowflake {version}", "missing": missing}

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self.connection.close()

    def _tried(self) -> list[str]:
        """What a load does, tried with a table that goes at once."""
        table = "loupe_staging_check"
        steps = (
            (f"CREATE OR REPLACE TRANSIENT TABLE {table} (id NUMBER(38, 0))", "make tables"),
            (f"INSERT INTO {table} VALUES (1)", "write with its warehouse"),
            (f"DROP TABLE IF EXISTS {table}", "drop its own tables"),
        )
        missing = []
        for statement, able in steps:
            try:
                self._do(statement)
            except Unavailable as error:
                missing.append(f"the role cannot {able}: {error}")
        return missing

    def _columns(self) -> dict[str, set[str]]:
        """The columns of the tables that are there."""
        asked = (
            "SELECT lower(table_name), lower(column_name) FROM information_schema.columns "
            "WHERE table_schema = CURRENT_SCHEMA()"
        )
        found: dict[str, set[str]] = {}
        for table, column in self._do(asked):
            found.setdefault(table, set()).add(column)
        return found

    def _begin(self, kind: RowKind, version: int) -> None:
        """One more file of a kind."""
        schema = pa.schema([(one.name, ARROW[one.type]) for one in kind.all_columns])
        self._writer = pq.ParquetWriter(self._file(kind), schema, compression="zstd")
        self._version, self._size = version, 0

    def _put(self, kind: RowKind, version: int) -> None:
        """What was written goes to the stage of its staging table."""
        self._writer.close()
        part = self._file(kind)
        with part.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        named = part.rename(part.with_name(f"{digest}.parquet"))
        # The path is one of ours: of a home folder it may have a quote in it.
        path = str(named).replace("\\", "\\\\").replace("'", "\\'")
        place = f"@%{_staging(kind.name, version)}"
        self._do(f"PUT 'file://{path}' {place} AUTO_COMPRESS = FALSE OVERWRITE = TRUE")
        named.unlink()

    def _file(self, kind: RowKind) -> Path:
        return self.scratch / f"{kind.name}.part"

    def _write(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held))
            self._held = []

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._do(sql, values)[0][0]

    def _do(self, sql: str, values: Sequence[Any] = ()) -> Any:
        self.statements += 1
        return self.connection.ask(sql, values)


def _staging(kind: str, version: int) -> str:
    return f"loupe_staging_{kind}_{version}"


def _tombstones(
    kind: RowKind, version: int, staging: str, gone: Sequence[base.Range]
) -> tuple[str, list[Any]]:
    """Rows of these ranges that stand and were not staged, as deleted ones."""
    where, values = base.condition(gone, "%s", "g")
    told = {DELETED.name: "TRUE", VERSION.name: "%s", **dict.fromkeys(kind.heavy, "NULL")}
    names = ", ".join(told.get(name, f"g.{name}") for name in kind.names)
    same = " AND ".join(f"k.{name} = g.{name}" for name in kind.key)
    return (
        f"SELECT {names} FROM {kind.table} g WHERE g.version < %s AND NOT g.deleted AND ({where}) "
        f"AND NOT EXISTS (SELECT 1 FROM {staging} k WHERE {same})",
        [version, version, *values],
    )
