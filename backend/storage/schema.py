"""Bring a database to the tables of this version; nearly always nothing is to be done."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from backend.errors import Unavailable
from backend.storage import engine, outages, recognising, table_version
from backend.storage.engine import Database
from backend.storage.table_version import MIGRATIONS


def prepare(database: Database, migrations: Path = MIGRATIONS, copies: Path | None = None) -> None:
    """Bring the database to the tables of this version.

    It is copied first: a file beside itself, a database of a server into the folder `copies`.
    """
    recognising.check_file(database.engine)
    with _connect(database.engine) as connection:
        if table_version.revision(connection) == table_version.newest(migrations):
            return
        connection.rollback()
        from backend.storage import upgrading

        upgrading.upgrade(connection, migrations, copies)


def _connect(opened: Engine) -> Connection:
    try:
        return opened.connect()
    except DBAPIError as error:
        raise Unavailable(
            f"The database {opened.url.render_as_string()} cannot be opened: "
            f"{outages.reason(error)}. Is it there, and is {engine.SETTING} right?"
        ) from error
