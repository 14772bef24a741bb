"""Which version the tables of a database have, and which the migrations lead to.

Every command asks, so it is read without the library that upgrades.
"""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from backend.storage import recognising

MIGRATIONS = Path(__file__).with_name("migrations")
STEP = re.compile(r"""^(revision|down_revision) = ["'](.+)["']""", re.MULTILINE)


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
    last = sorted(said["revision"] - said["down_revision"])
    if len(last) != 1:
        raise ValueError(
            f"The migrations end in {' and in '.join(last)}: one has to follow another."
        )
    return last[0]
