"""The upgrade of a database's tables: backed up first, all or nothing."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from backend.errors import Unavailable
from backend.storage import copying, engine, recognising, table_version
from backend.storage.types import now

log = logging.getLogger(__name__)
# Any number will do, as long as every Loupe asks for the same lock.
LOCK = 5_680_731


def upgrade(connection: Connection, migrations: Path, copies: Path | None) -> None:
    """Bring the tables to the newest version; the database is copied before they change."""
    with _unchecked(connection), connection.begin():
        _upgrade(connection, migrations, copies)


def copy(opened: Engine, target: Path) -> None:
    """The database as it stands at one moment, also while others write, as a SQLite file."""
    if opened.dialect.name == "sqlite":
        with (
            closing(sqlite3.connect(str(opened.url.database))) as source,
            closing(sqlite3.connect(target)) as made,
        ):
            source.backup(made)
        return
    standing = opened.execution_options(isolation_level="REPEATABLE READ")
    file = engine.make_engine(f"sqlite:///{target}")
    with standing.connect() as rows, rows.begin(), file.connect() as made_, made_.begin():
        command.upgrade(config(made_), table_version.revision(rows) or "head")
        copying.rows(rows, made_)
    file.dispose()


def config(
    connection: Connection | None = None, migrations: Path = table_version.MIGRATIONS
) -> Config:
    """Alembic's configuration, without a file of its own."""
    made = Config()
    made.set_main_option("script_location", str(migrations))
    made.attributes["connection"] = connection
    return made


@contextmanager
def _unchecked(connection: Connection) -> Iterator[None]:
    """SQLite takes a table away, to make it anew, only while it looks at no references."""
    raw: Any = connection.connection.driver_connection
    lite = connection.dialect.name == "sqlite"
    if lite:
        raw.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        if lite:
            raw.execute("PRAGMA foreign_keys=ON")


def _check_references(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    found = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if found is not None:
        raise Unavailable(
            f"The upgrade would leave row {found[1]} of the table {found[0]} leading to nothing; "
            "nothing was changed."
        )


def _upgrade(connection: Connection, migrations: Path, copies: Path | None) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    stands, wanted = table_version.revision(connection), table_version.newest(migrations)
    if stands == wanted:
        return
    if stands is None:
        recognising.check_tables(connection)
    if stands is not None and stands not in _known(migrations):
        raise Unavailable(
            f"The database was written by a newer Loupe (its tables are version {stands}, this "
            f"program knows {wanted}); install the newer version, or restore the backup."
        )
    if stands is not None:
        _back_up(connection.engine, stands, copies)
    command.upgrade(config(connection, migrations), "head")
    _check_references(connection)
    log.info("The database now has the tables of version %s.", wanted)


def _known(migrations: Path) -> set[str]:
    script = ScriptDirectory.from_config(config(None, migrations))
    return {one.revision for one in script.walk_revisions()}


def _back_up(opened: Engine, stands: str, copies: Path | None) -> None:
    if opened.dialect.name == "sqlite" and opened.url.database in (None, ":memory:"):
        return
    path = Path(str(opened.url.database))
    folder = path.parent if opened.dialect.name == "sqlite" else copies
    if folder is None:
        return
    target = folder / f"{path.stem}.before-{stands}-{now():%Y%m%d-%H%M%S}.db"
    part = target.with_suffix(".part")
    part.touch(path.stat().st_mode & 0o777 if path.is_file() else 0o600)
    copy(opened, part)
    part.replace(target)
    log.info("The database was copied to %s before its tables are changed.", target)
