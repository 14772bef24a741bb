"""PostgreSQL as the warehouse: COPY into a table of that transaction, then one insert."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from backend.errors import Unavailable
from backend.warehouse import address as addresses
from backend.warehouse import queries
from backend.warehouse.address import SETTING, Address
from backend.warehouse.dialects import base
from backend.warehouse.queries import Answer
from backend.warehouse.reading import Rows
from backend.warehouse.shapes import RowKind, Type
from backend.warehouse.tables import KINDS

TYPES = {
    Type.WHOLE: "BIGINT",
    Type.REAL: "DOUBLE PRECISION",
    Type.TEXT: "TEXT",
    Type.FLAG: "BOOLEAN",
    Type.MOMENT: "TIMESTAMP",
    Type.BYTES: "BYTEA",
}
OIDS = {
    Type.WHOLE: "int8",
    Type.REAL: "float8",
    Type.TEXT: "text",
    Type.FLAG: "bool",
    Type.MOMENT: "timestamp",
    Type.BYTES: "bytea",
}
# Tables, and views that somebody else has made: ours ask what is called loupe_.
TAKEN = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' "
    "UNION ALL SELECT viewname FROM pg_views "
    "WHERE schemaname = current_schema() AND lower(definition) NOT LIKE '%loupe_%'"
)
NAME = "loupe load"  # and of which place: loads of others are not ours to end
PATIENCE = {
    "connect_timeout": 10,
    "tcp_user_timeout": 60_000,  # milliseconds
    "keepalives_idle": 20,
    "options": "-c statement_timeout=600s -c lock_timeout=60s",
}


class Postgresql:
    """A warehouse on a server."""

    def __init__(self, address: Address) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise Unavailable(
                "PostgreSQL needs its driver, which is the extra postgres: uv sync --extra postgres"
            ) from error
        self.error = psycopg.Error
        self.address = address
        self.name = f"{NAME} {address.digest}"
        self.statements = 0
        password = address.secrets.get("password")
        url = address.url.set(drivername="postgresql").render_as_string(hide_password=False)
        secret = {"password": password.get_secret_value()} if password else {}
        with self._told():
            patience = {**_patience(address), "application_name": self.name}
            self.connection = psycopg.connect(url, **{**patience, **secret})
        self._open = ExitStack()
        self._copy: Any = None

    def lay(self) -> None:
        for kind in KINDS.values():
            self._do(base.create(kind, TYPES, key=True))
            for one in kind.all_columns:
                self._do(
                    f"ALTER TABLE {kind.table} ADD COLUMN IF NOT EXISTS "
                    f"{one.name} {TYPES[one.type]}"
                )
        shown = base.shown("postgresql", [name for (name,) in self._do(TAKEN)])
        if not self._replaced(shown):
            for name in reversed(shown):
                self._do(f"DROP VIEW IF EXISTS {name}")
            for name, select in shown.items():
                self._do(f"CREATE VIEW {name} AS {select}")
        self.commit()

    def tables(self) -> set[str]:
        with self._told():
            self.connection.rollback()
        found = self._do("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return {name for (name,) in found}

    def newest(self) -> int:
        return self._one(base.newest()) or 0

    def heads(self, kind: RowKind) -> list[tuple[int, int]]:
        return list(self._do(base.parts(kind, "{column} / {size}")).fetchall())

    def pictures(self) -> Iterator[tuple[Any, ...]]:
        yield from self._do(base.pictures())

    def stage(self, kind: RowKind, version: int) -> None:
        staging = f"staging_{kind.table}_{version}"
        columns = ", ".join(f"{one.name} {TYPES[one.type]}" for one in kind.all_columns)
        self._do(f"CREATE TEMPORARY TABLE {staging} ({columns}) ON COMMIT DROP")
        self.statements += 1
        with self._told():
            cursor = self._open.enter_context(self.connection.cursor())
            self._copy = self._open.enter_context(cursor.copy(f"COPY {staging} FROM STDIN"))
            self._copy.set_types([OIDS[one.type] for one in kind.all_columns])

    def add(self, kind: RowKind, rows: Rows) -> None:  # noqa: ARG002
        with self._told():
            write = self._copy.write_row
            for row in rows:
                write(row)

    def staged(self, kind: RowKind, version: int) -> None:  # noqa: ARG002
        with self._told():
            self._open.close()

    def merge(self, kind: RowKind, version: int, gone: Sequence[base.Range]) -> None:
        staging = f"staging_{kind.table}_{version}"
        once = f"SELECT DISTINCT ON ({', '.join(kind.key)}) {', '.join(kind.names)} FROM {staging}"
        self._do(base.upsert(kind, once))
        if gone:
            where, values = base.condition(gone, "%s")
            self._do(
                f"UPDATE {kind.table} SET {base.gone(kind)}, version = %s "
                f"WHERE version < %s AND ({where})",
                [version, version, *values],
            )

    def count(self, kind: RowKind, version: int, among: Sequence[base.Range]) -> int:
        return int(self._one(*base.standing(kind, version, among, "%s")))

    def commit(self) -> None:
        self.statements += 1
        with self._told():
            self.connection.commit()

    def sweep(self, version: int, kinds: Sequence[str]) -> None:  # noqa: ARG002
        # What was staged goes with its transaction: that of a frozen loader is ended here.
        self._do(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s "
            "AND datname = current_database() AND usename = current_user "
            "AND pid <> pg_backend_pid()",
            [self.name],
        )

    def ask(self, sql: str, values: Mapping[str, Any]) -> Answer:
        with self._told():
            # A load ends those that bear its name.
            self.connection.execute("SET application_name = 'loupe ask'")
            found = self.connection.execute(queries.bound(sql), values)
            return queries.answer([one.name for one in found.description or ()], found.fetchall())

    def check(self) -> dict[str, Any]:
        who, role, where, schema, version, may = self._do(
            "SELECT current_user, quote_ident(current_user), "
            "concat_ws('.', current_database(), current_schema()), "
            "quote_ident(current_schema()), current_setting('server_version'), "
            "has_schema_privilege(current_schema(), 'CREATE')"
        ).fetchone()
        missing = [] if may else [f"GRANT CREATE, USAGE ON SCHEMA {schema} TO {role};"]
        if schema is None:
            missing = [f"no schema is in use: does that of the search_path of {SETTING} exist?"]
        return {"who": who, "where": where, "version": f"PostgreSQL {version}", "missing": missing}

    def close(self) -> None:
        # An unfinished COPY ends with the connection.
        self._open.pop_all()
        self.connection.close()

    def _replaced(self, shown: Mapping[str, str]) -> bool:
        """Make them anew in their places, so that who reads them or has built on them still may.

        One that has lost or changed a column cannot stay.
        """
        try:
            with self.connection.transaction():
                for name, select in shown.items():
                    self._do(f"CREATE OR REPLACE VIEW {name} AS {select}")
        except Unavailable:
            return False
        return True

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._do(sql, values).fetchone()[0]

    def _do(self, sql: str, values: Sequence[Any] = ()) -> Any:
        self.statements += 1
        with self._told():
            return self.connection.execute(sql, values or None)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self.error as error:
            raise Unavailable(self._sentence(error)) from None

    def _sentence(self, error: Any) -> str:
        lines = [" ".join(line.split()) for line in str(error).splitlines() if line.strip()]
        said = (lines or [type(error).__name__])[0].rpartition(" failed: ")[2].rstrip(".")
        if getattr(error, "sqlstate", None) == "42501":
            schema = addresses.schema(self.address) or "public"
            return (
                f"The warehouse refuses: {said}. An administrator can allow it: "
                f"GRANT CREATE, USAGE ON SCHEMA {schema} TO the user of {SETTING};"
            )
        return f"The warehouse {self.address.shown} does not take it: {said}. Is {SETTING} right?"


def _patience(address: Address) -> dict[str, Any]:
    """Our patience, where the URL does not say otherwise."""
    said = address.url.query
    mine = {name: value for name, value in PATIENCE.items() if name not in said}
    theirs = said.get("options", ())
    # Of two that set the same the later one counts.
    options = [str(PATIENCE["options"]), *((theirs,) if isinstance(theirs, str) else theirs)]
    return {**mine, "options": " ".join(options)}
