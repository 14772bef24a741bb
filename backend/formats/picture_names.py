"""What a picture of a source is called in a project.

A picture is named by its path in the source, below the folders that only say "pictures" or
name a split. Where two would then share a name, both keep their whole path.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath

from backend.errors import Invalid
from backend.formats import base
from backend.formats.source import shelf

FOLDERS = frozenset({"images", "jpegimages", "image"})
UNASSIGNED = "unassigned"  # where a writer puts pictures without a split
LONGEST = 400


def says_something(folder: str) -> bool:
    """Whether a folder's name has a meaning to a reader, so that it must not be dropped."""
    return folder.lower() in FOLDERS or folder == UNASSIGNED or base.split_of(folder) is not None


class PictureNames:
    """The name of each path; `splits` says whether a split's folder is no part of it.

    Names are made when they are asked for: a source may have millions of pictures.
    """

    def __init__(self, paths: Collection[str], *, splits: bool, home: str = "") -> None:
        self._splits = splits
        self._home = home
        self._twice: Collection[str] = ()
        self._twice = self._repeated(paths)
        self._whole = bool(self._twice and self._repeated(paths))

    _whole = False

    def __getitem__(self, path: str) -> str:
        path = path.removeprefix(self._home)
        name = path if self._whole else _below(path, splits=self._splits)
        return path if name in self._twice else name

    def _repeated(self, paths: Collection[str]) -> Collection[str]:
        """The names that two paths would share."""
        return shelf.NameSet(shelf.Index((self[path], path) for path in paths).twice())


def safe(name: str) -> PurePosixPath:
    """A picture's name as a path below any folder; it never leads out of it."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise Invalid(f"{name!r} cannot be the name of a file.")
    return path


def _below(path: str, *, splits: bool) -> str:
    parts = path.split("/")
    kinds = ["pictures", "split"] if splits else ["pictures"]
    while len(parts) > 1 and (kind := _kind(parts[0])) in kinds:
        kinds.remove(kind)
        parts = parts[1:]
    return "/".join(parts)


def _kind(folder: str) -> str:
    if folder.lower() in FOLDERS:
        return "pictures"
    return "split" if says_something(folder) else ""
