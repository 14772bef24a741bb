"""Bring a database to the tables of this version: backed up first, all or nothing."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from backend.errors import Unavailable
from backend.storage import engine
from backend.storage.engine import Database
from backend.storage.types import now

log = logging.getLogger(__name__)
MIGRATIONS = Path(__file__).with_name("migrations")
# Any number will do, as long as every Loupe asks for the same lock.
LOCK = 5_680_731


def prepare(database: Database, migrations: Path = MIGRATIONS) -> None:
    """Upgrade the operational database, and make the warehouse's tables where it is apart."""
    with _connect(database.operational, engine.OPERATIONAL) as connection, connection.begin():
        _upgrade(connection, migrations)
    if database.warehouse is not database.operational:
        _connect(database.warehouse, engine.WAREHOUSE).close()
        engine.create_warehouse_tables(database.warehouse)


def config(connection: Connection | None = None, migrations: Path = MIGRATIONS) -> Config:
    """Alembic's configuration, without a file of its own."""
    made = Config()
    made.set_main_option("script_location", str(migrations))
    made.attributes["connection"] = connection
    return made


def _connect(opened: Engine, setting: str) -> Connection:
    try:
        return opened.connect()
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split()).removesuffix(".")
        raise Unavailable(
            f"The database {opened.url.render_as_string()} cannot be opened: "
            f"{reason}. Is it there, and is {setting} right?"
        ) from error


def _upgrade(connection: Connection, migrations: Path) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    script = ScriptDirectory.from_config(config(None, migrations))
    stands, wanted = _revision(connection), script.get_current_head()
    if stands == wanted:
        return
    if stands is not None and stands not in {one.revision for one in script.walk_revisions()}:
        raise Unavailable(
            f"The database was written by a newer Loupe (its tables are version {stands}, this "
            f"program knows {wanted}); install the newer version, or restore the backup."
        )
    if stands is not None:
        _back_up(connection.engine, stands)
    command.upgrade(config(connection, migrations), "head")
    log.info("The database now has the tables of version %s.", wanted)


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _back_up(opened: Engine, revision: str) -> None:
    """Copy a SQLite file beside itself; other databases have their own backups."""
    if opened.dialect.name != "sqlite" or opened.url.database in (None, ":memory:"):
        return
    path = Path(str(opened.url.database))
    target = path.with_name(f"{path.stem}.before-{revision}-{now():%Y%m%d-%H%M%S}.db")
    part = target.with_suffix(".part")
    part.touch(path.stat().st_mode & 0o777)
    source, copy = sqlite3.connect(path), sqlite3.connect(part)
    try:
        source.backup(copy)
    finally:
        source.close()
        copy.close()
    part.replace(target)
    log.info("The database was copied to %s before its tables are changed.", target)
