"""Puts files of an export below its folder, and keeps two from sharing one name."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from backend.formats import picture_names
from backend.formats.source import shelf


class Stems:
    """Gives each picture a path without ending that no other picture of the export has."""

    def __init__(self) -> None:
        self._taken = shelf.NameSet()

    def take(self, name: str) -> str:
        """The name without its ending, or something near it where that is taken."""
        path = picture_names.safe(name)
        for stem in (str(path.with_suffix("")), str(path)):
            if stem not in self._taken:
                break
        count = 2
        while stem in self._taken:
            stem = f"{path}-{count}"
            count += 1
        self._taken.add(stem)
        return stem


def put(folder: Path, name: str, content: bytes) -> None:
    """Write one file of an export."""
    path = folder / picture_names.safe(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def ending(name: str) -> str:
    """A picture's ending as it is written."""
    return PurePosixPath(name).suffix
