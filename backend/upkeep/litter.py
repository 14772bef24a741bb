"""Collects files that nothing names any more; what somebody may be about to name stays."""

from __future__ import annotations

from dataclasses import dataclass

from backend.errors import NotFound
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.upkeep import references

# Bytes come before the row that names them: longer than any import keeps a row back.
DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many files, and bytes, nothing named."""

    files: int = 0
    bytes: int = 0


def tidy(database: Database, files: Files, age: float = DAY, *, only_look: bool = False) -> Tidied:
    """Remove what nothing names and nobody has put for so many seconds."""
    old = set(files.older(age))
    with database.read.begin() as session:
        old -= references.named(session)
    removed = size = 0
    for name in sorted(old):
        try:
            length = files.size(name)
            gone = only_look or files.remove(name, age)
        except (NotFound, FileNotFoundError):
            continue  # another one tidies, too
        removed, size = removed + gone, size + length * gone
    return Tidied(removed, size)
