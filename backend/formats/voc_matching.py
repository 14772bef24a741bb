"""Finds the picture that a Pascal VOC annotation describes; each picture is described once."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from backend.formats import picture_names
from backend.formats.source import shelf
from backend.formats.source.tree import PICTURES, Tree, suffix

LABEL_FOLDERS = frozenset({"annotations", "annotation", "xml", "xmls", "ground-truth", "labels"})


class Finder:
    """Matches by folder and stem, because the file name in an annotation is often another.

    `twins` are pictures that an annotation names, when one of its stem elsewhere was better.
    """

    def __init__(self, tree: Tree) -> None:
        self.taken = shelf.NameSet()
        self.twins = shelf.NameSet()
        self._tree = tree
        self._sizes = Counter(posixpath.dirname(name) for name in tree.pictures)
        self._places = shelf.Index(("/".join(_place(name)), name) for name in tree.pictures)

    def find(self, labels: str, filename: str) -> str:
        """The picture, or '' if there is none that is not taken."""
        named = PurePosixPath(filename.replace("\\", "/")).name
        best = self._in_place(labels) or self._alike(labels, named)
        if best:
            self.taken.add(best)
        if best and posixpath.basename(best) != named:
            alike = self._tree.by_stem.get(PurePosixPath(labels).stem)
            for name in alike:
                if posixpath.basename(name) == named:
                    self.twins.add(name)
        return best

    def _in_place(self, labels: str) -> str:
        """The one picture in the folder that mirrors the annotation's."""
        free = self._free(self._places.get("/".join(_place(labels))))
        return free[0] if len(free) == 1 else ""

    def _alike(self, labels: str, named: str) -> str:
        """The likeliest of the pictures of that stem, or else the one of that name."""
        stem = PurePosixPath(labels).stem
        stems = self._tree.by_stem
        found = self._free([*stems.get(stem), *stems.get(PurePosixPath(stem).stem)])
        if found:
            return max(found, key=lambda name: self._likeness(name, labels, named))
        exact = self._tree.find(named) if named else ""
        return exact if suffix(exact) in PICTURES and exact not in self.taken else ""

    def _free(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name not in self.taken]

    def _likeness(self, picture: str, labels: str, named: str) -> tuple[int, int, bool]:
        """Folders in common, then the larger folder, then the very name."""
        ours, theirs = _place(picture)[::-1], _place(labels)[::-1]
        common = 0
        while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
            common += 1
        return common, self._sizes[posixpath.dirname(picture)], posixpath.basename(picture) == named


def _place(name: str) -> tuple[str, ...]:
    """The parts of a path that say which picture it is, without ending."""
    parts = posixpath.splitext(name)[0].split("/")
    skipped = LABEL_FOLDERS | picture_names.FOLDERS
    return (*(part for part in parts[:-1] if part.lower() not in skipped), parts[-1])
