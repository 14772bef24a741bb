"""Which version the tables of a database have, and bringing them to that of this program.

Every command asks, and nearly always nothing is to be done: what does it is read only then.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from backend.errors import Unavailable
from backend.storage import engine, outages, recognising
from backend.storage.engine import Database

MIGRATIONS = Path(__file__).with_name("migrations")
STEP = re.compile(r"""^(revision|down_revision) = ["'](.+)["']""", re.MULTILINE)


def prepare(database: Database, migrations: Path = MIGRATIONS, copies: Path | None = None) -> None:
    """Bring the database to the tables of this version.

    It is copied first: a file beside itself, a database of a server into the folder `copies`.
    """
    recognising.check_file(database.engine)
    with _connect(database.engine) as connection:
        if revision(connection) == newest(migrations):
            return
        connection.rollback()
        from backend.storage import upgrading

        upgrading.upgrade(connection, migrations, copies)


def copy(opened: Engine, target: Path) -> None:
    """The database as it stands at one moment, also while others write, as a SQLite file."""
    if opened.dialect.name == "sqlite":
        with (
            closing(sqlite3.connect(str(opened.url.database))) as source,
            closing(sqlite3.connect(target)) as made,
        ):
            source.backup(made)
        return
    from backend.storage import upgrading

    upgrading.copy_rows(opened, target)


def revision(connection: Connection) -> str | None:
    """The version of the tables that stand there, if there are any."""
    if not inspect(connection).has_table(recognising.VERSIONS):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {recognising.VERSIONS}"))
    return found.scalar()


def newest(migrations: Path = MIGRATIONS) -> str:
    """The version that the last of these steps leads to."""
    said: dict[str, set[str]] = {"revision": set(), "down_revision": set()}
    for path in migrations.glob("versions/*.py"):
        for name, version in STEP.findall(path.read_text()):
            said[name].add(version)
    (last,) = said["revision"] - said["down_revision"]
    return last


def _connect(opened: Engine) -> Connection:
    try:
        return opened.connect()
    except DBAPIError as error:
        raise Unavailable(
            f"The database {opened.url.render_as_string()} cannot be opened: "
            f"{outages.reason(error)}. Is it there, and is {engine.SETTING} right?"
        ) from error
