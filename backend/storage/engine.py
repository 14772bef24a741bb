"""The one place that knows which database: engines, sessions, and how each dialect is handled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    insert,
    make_url,
    select,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from backend.errors import Invalid, Unavailable
from backend.settings import Settings
from backend.storage.tables import OperationalBase, WarehouseBase

OPERATIONAL, WAREHOUSE = "LOUPE_DATABASE_URL", "LOUPE_WAREHOUSE_URL"
READ_ONLY = "loupe_read_only"
KNOWN = ("sqlite", "postgresql", "snowflake")
# SQLite takes at most 32,766 variables in a statement.
ON_CONFLICT: Mapping[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
Sessions = sessionmaker[Session]


@dataclass(frozen=True, slots=True)
class Database:
    """The sessions of a process: `write.begin()` takes SQLite's write lock at once."""

    write: Sessions
    read: Sessions
    operational: Engine
    warehouse: Engine

    def close(self) -> None:
        """Let go of every connection."""
        self.operational.dispose()
        self.warehouse.dispose()


def connect(settings: Settings) -> Database:
    """Open the databases that the settings name; creates no table."""
    return open_urls(settings.operational_url, settings.results_url)


def open_urls(operational: str, warehouse: str | None = None) -> Database:
    """Open both databases; one engine serves both when the URLs are equal."""
    first = make_engine(operational)
    second = first if warehouse in (None, operational) else make_engine(str(warehouse), WAREHOUSE)
    return Database(_sessions(first, second), _sessions(first, second, True), first, second)


def make_engine(url: str, setting: str = OPERATIONAL) -> Engine:
    """An engine with the dialect's recipe applied; `setting` is where the URL stands."""
    parsed = _parse(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed, setting)
    if parsed.get_backend_name() == "postgresql":
        return _postgresql(parsed)
    return create_engine(parsed)


def create_tables(database: Database) -> None:
    """Create what is missing, without migrations: for tests and for a warehouse of its own."""
    OperationalBase.metadata.create_all(database.operational)
    create_warehouse_tables(database.warehouse)


def create_warehouse_tables(engine: Engine) -> None:
    """Create the warehouse's tables; Snowflake has no indexes, so they are left out there."""
    if engine.dialect.name != "snowflake":
        WarehouseBase.metadata.create_all(engine)
        return
    for table in WarehouseBase.metadata.sorted_tables:
        bare = table.to_metadata(type(table.metadata)())
        bare.indexes.clear()
        bare.create(engine, checkfirst=True)


def bulk_insert(session: Session, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert many rows the quick way; `rows` are by column name."""
    if rows:
        core: Table = table.__table__
        session.connection(bind_arguments={"mapper": table}).execute(insert(core), list(rows))


def insert_new(session: Session, table: Any, rows: Sequence[Mapping[str, Any]]) -> set[Any]:
    """Insert the rows whose key is not there yet; the others stay as they are.

    Returns the last part of the key of each inserted row.
    """
    connection = session.connection(bind_arguments={"mapper": table})
    maker = ON_CONFLICT.get(connection.dialect.name)
    core: Table = table.__table__
    if maker is None:
        return _insert_missing(connection, core, rows)
    if not rows:
        return set()
    last = list(core.primary_key)[-1]
    # Rows beside the statement, not within it: it is then compiled once, not for each batch.
    query = maker(core).on_conflict_do_nothing().returning(last)
    return set(connection.execute(query, list(rows)).scalars())


def batches(values: Sequence[Any], size: int = 10_000) -> Iterable[Sequence[Any]]:
    """Parts that fit into one statement."""
    return (values[start : start + size] for start in range(0, len(values), size))


def _insert_missing(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> set[Any]:
    """For warehouses without ON CONFLICT, where one loader writes at a time."""
    keys = [column.name for column in table.primary_key]
    wanted = [tuple(row[key] for key in keys) for row in rows]
    there: set[tuple[Any, ...]] = set()
    for part in batches(wanted, 1000):
        query = select(*table.primary_key).where(tuple_(*table.primary_key).in_(part))
        there.update(tuple(row) for row in connection.execute(query))
    missing = [row for row, key in zip(rows, wanted, strict=True) if key not in there]
    if missing:
        connection.execute(insert(table), missing)
    return {row[keys[-1]] for row in missing}


def _sessions(operational: Engine, warehouse: Engine, read_only: bool = False) -> Sessions:
    def option(engine: Engine) -> Engine:
        return engine.execution_options(**{READ_ONLY: True}) if read_only else engine

    first = option(operational)
    second = first if warehouse is operational else option(warehouse)
    binds = {OperationalBase: first, WarehouseBase: second}
    # A query that names no table of ours, such as a bare count, goes to the operational one.
    return sessionmaker(bind=first, binds=binds, expire_on_commit=False)


def _parse(url: str) -> URL:
    unusable = Invalid(
        "The database URL is not one that Loupe can open; it starts with sqlite:///, "
        "postgresql:// or snowflake:// (settings LOUPE_DATABASE_URL, LOUPE_WAREHOUSE_URL)."
    )
    try:
        parsed = make_url(url)
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise unusable from error
    if parsed.get_backend_name() not in KNOWN:
        raise unusable
    return parsed


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError as error:
        raise Unavailable(
            "PostgreSQL needs its driver, which is the extra postgres: uv sync --extra postgres"
        ) from error


def _sqlite(url: URL, setting: str) -> Engine:
    if url.database and url.database != ":memory:" and "uri" not in url.query:
        _make_file(Path(url.database), setting)
    engine = create_engine(url, connect_args={"timeout": 30, "check_same_thread": False})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_file(path: Path, setting: str) -> None:
    """A new file is its owner's alone, as it holds the passwords' hashes and the cookies' key."""
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"The database's folder {folder} cannot be made: {error.strerror}. Is {setting} right?"
        ) from error
    # Where it cannot be made, SQLite says so in its own words.
    with suppress(OSError):
        path.touch(0o600, exist_ok=False)


def _prepare_sqlite(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:  # noqa: ARG001
    raw: Any = connection
    # The driver must not open transactions by itself: its deferred BEGIN loses updates.
    raw.isolation_level = None
    for pragma in (
        "busy_timeout=30000",
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
    ):
        raw.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    reading = connection.get_execution_options().get(READ_ONLY)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
