"""The one place that knows which database: engines, sessions, and how each dialect is handled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, insert, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from backend.errors import Invalid, Unavailable
from backend.settings import Settings
from backend.storage import doors, fingerprints, same_file
from backend.storage.tables import Base
from backend.storage.writers import turns

SETTING = "LOUPE_DATABASE_URL"
READ_ONLY = "loupe_read_only"
CONNECT_SECONDS = 10  # unless the URL says otherwise: connect_timeout=
CONNECTIONS = 20  # kept open; as many again while they are needed
KNOWN = ("sqlite", "postgresql")
# SQLite takes at most 32,766 variables in a statement.
ON_CONFLICT: Mapping[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
Sessions = sessionmaker[Session]


@dataclass(frozen=True, slots=True)
class Database:
    """The sessions of a process: `write.begin()` takes SQLite's write lock at once."""

    write: Sessions
    read: Sessions
    engine: Engine

    def close(self) -> None:
        """Let go of every connection."""
        self.engine.dispose()


def connect(settings: Settings) -> Database:
    """Open the database that the settings name; creates no table."""
    return open_url(settings.operational_url)


def open_url(url: str) -> Database:
    """Open a database."""
    made = make_engine(url)
    reading = made.execution_options(**{READ_ONLY: True})
    return Database(
        doors.guard(sessionmaker(made, expire_on_commit=False)),
        doors.guard(sessionmaker(reading, expire_on_commit=False)),
        made,
    )


def make_engine(url: str) -> Engine:
    """An engine with the dialect's recipe applied."""
    parsed = _parse(url)
    return _sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _postgresql(parsed)


def create_tables(database: Database) -> None:
    """Create what is missing, without migrations: for tests."""
    Base.metadata.create_all(database.engine)


def bulk_insert(session: Session, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert many rows the quick way; `rows` are by column name, all with the same ones."""
    if not rows:
        return
    connection = session.connection()
    core: Table = table.__table__
    # COPY knows nothing of the defaults that Python fills in.
    left = any(column.default is not None for column in core.columns if column.name not in rows[0])
    if connection.dialect.name == "postgresql" and not left:
        _copy(connection, core, rows)
    else:
        connection.execute(insert(core), list(rows))


def insert_new(session: Session, table: Any, rows: Sequence[Mapping[str, Any]]) -> set[Any]:
    """Insert the rows whose key is not there yet; the others stay as they are.

    Returns the last part of the key of each inserted row.
    """
    if not rows:
        return set()
    connection = session.connection()
    core: Table = table.__table__
    last = list(core.primary_key)[-1]
    # Rows beside the statement, not within it: it is then compiled once, not for each batch.
    new = ON_CONFLICT[connection.dialect.name](core).on_conflict_do_nothing().returning(last)
    return set(connection.execute(new, list(rows)).scalars())


def at_one_moment(session: Session) -> None:
    """Let all that a transaction reads be of one moment; said before it asks anything."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def batches(values: Sequence[Any], size: int = 10_000) -> Iterable[Sequence[Any]]:
    """Parts that fit into one statement."""
    return (values[start : start + size] for start in range(0, len(values), size))


def _copy(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """PostgreSQL's own way in, five times as quick, in the transaction that is open."""
    names = list(rows[0])
    dialect, raw = connection.dialect, connection.connection
    quoted = ", ".join(map(dialect.identifier_preparer.quote, names))
    statement = f"COPY {dialect.identifier_preparer.format_table(table)} ({quoted}) FROM STDIN"
    written = [table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names]
    values: Iterable[Sequence[Any]] = map(itemgetter(*names), rows)
    if any(written):
        values = (
            [write(one) if write else one for write, one in zip(written, row, strict=True)]
            for row in values
        )
    try:
        with closing(cast(Any, raw.cursor())) as cursor, cursor.copy(statement) as copy:
            for row in values:
                copy.write_row(row)
    except dialect.loaded_dbapi.Error as error:
        raise DBAPIError.instance(
            statement, None, error, dialect.loaded_dbapi.Error, dialect=dialect
        ) from error


def _parse(url: str) -> URL:
    unusable = Invalid(
        "The database URL is not one that Loupe can open; it starts with sqlite:/// "
        f"or postgresql:// (setting {SETTING})."
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
        driver = url.set(drivername="postgresql+psycopg")
        wait = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS}
        return create_engine(driver, connect_args=wait, pool_pre_ping=True, **_pool(url))
    except ImportError as error:
        raise Unavailable(
            "PostgreSQL needs its driver, which is the extra postgres: uv sync --extra postgres"
        ) from error


def _sqlite(url: URL) -> Engine:
    if url.database and url.database != ":memory:" and "uri" not in url.query:
        _make_file(Path(url.database))
    arguments = {"timeout": 30, "check_same_thread": False}
    engine = create_engine(url, connect_args=arguments, **_pool(url))
    if url.database and url.database != ":memory:" and "uri" not in url.query:
        same_file.watch(engine, Path(url.database))
    event.listen(engine, "connect", _prepare_sqlite)
    turns.install(engine, READ_ONLY)
    return engine


def _pool(url: URL) -> dict[str, int]:
    """A connection for each thread that may ask at once; one in memory is one."""
    memory = url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")
    return {} if memory else {"pool_size": CONNECTIONS, "max_overflow": CONNECTIONS}


def _make_file(path: Path) -> None:
    """A new file is its owner's alone, as it holds the passwords' hashes and the cookies' key."""
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"The database's folder {folder} cannot be made: {error.strerror}. Is {SETTING} right?"
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
    fingerprints.install(raw)
