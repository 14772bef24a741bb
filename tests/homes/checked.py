"""At the end of what disturbs a home: nothing in it is as it must not be."""

from __future__ import annotations

from backend.storage.engine import Database
from backend.storage.files import Files
from backend.upkeep import checks


def whole(database: Database, files: Files) -> None:
    """Ask every rule of `loupe check`, and hold every file against its hash."""
    found = checks.check(database, files)
    assert found.clean, "\n".join(one.sentence for one in found.findings)
