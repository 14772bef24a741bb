"""Which split and class the folders of a picture name: `[split/]class/picture`, classes nested.

In splits a class may be a folder in a folder (`train/animal/cat/1.jpg` is of `animal/cat`).
Without splits only folders of one level are classes, or those that a list names: deeper ones are
as often lots and dates. Classes below splits are so too where more pictures lie beside, in folders
of one level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain import Split
from backend.formats import base, picture_names
from backend.formats.picture_names import PictureNames
from backend.formats.source import shelf
from backend.formats.source.tree import Tree

NO_CLASS = "_"
NONE_OF_THEM = "(none)"
_WITHOUT = (NO_CLASS, NONE_OF_THEM)


@dataclass(frozen=True, slots=True)
class WhereItLies:
    """What a picture's folders say; `beside` is one without a class where others have one.

    `none` is one of which somebody has said that it is of none of the classes.
    """

    split: Split | None = None
    label: str = ""
    beside: bool = False
    none: bool = False


class ClassFolders:
    """The places of a source's pictures; `listed` has the classes of its list by their folders."""

    def __init__(self, tree: Tree, listed: Mapping[str, str] | None) -> None:
        self._listed, self._empty = listed or {}, tree.empty
        self._known = set(self._listed.values())
        seen = _look(tree, self._known)
        self._in_splits = seen.are_in_splits()
        self._by_list = seen.by_list > 0
        self._by_folder = listed is None and seen.are_in_classes()
        self._names = PictureNames(tree.pictures, splits=self._in_splits)
        self._ours = self._in_splits and listed is not None
        pairs = ((self._rest(one), one) for one in tree.pictures if self._ours)
        self._twice = shelf.NameSet(shelf.Index(pairs).twice())
        named = bool(listed) if self._ours else seen.in_classes > 0
        self.has_classes = named if self._in_splits else self._by_list or self._by_folder

    def of(self, picture: str) -> WhereItLies:
        """Where a picture lies."""
        parts = _Parts(picture)
        if self._in_splits:
            label = self._class(parts) if parts.in_split else ""
            first = parts.folders[0] if parts.folders else ""
            said = label or (self._ours and parts.in_split and first in ("", *_WITHOUT))
            none = self._ours and not label and first == NONE_OF_THEM
            return WhereItLies(parts.split, label, self.has_classes and not said, none)
        if not self.has_classes:
            return WhereItLies()
        label = "/".join(parts.folders)
        if self._by_list and label not in self._known:
            label = ""
        return WhereItLies(None, label, beside=not label)

    def empty(self) -> tuple[str, ...]:
        """The classes whose folders hold nothing, where no list says which there are."""
        if not self.has_classes or not (self._by_folder or (self._in_splits and not self._ours)):
            return ()
        found = (_Parts(one) for one in self._empty)
        named = (one.folders for one in found if one.in_split or not self._in_splits)
        kept = (one for one in named if self._in_splits or len(one) == 1)
        return tuple(dict.fromkeys("/".join(one) for one in kept if one))

    def name(self, picture: str) -> str:
        """What a picture is called: in exports of ours by what follows the folder of its class."""
        rest = self._rest(picture) if self._ours else ""
        return self._names[picture] if not self._ours else picture if rest in self._twice else rest

    def _class(self, parts: _Parts) -> str:
        """The class that folders below a split name."""
        first = parts.folders[0] if parts.folders else ""
        if first in self._listed:
            return self._listed[first]
        return "" if self._ours and first in _WITHOUT else "/".join(parts.folders)

    def _rest(self, picture: str) -> str:
        """What follows the folder of the class."""
        parts = _Parts(picture)
        if not parts.in_split:
            return picture
        deep = len(parts.folders)
        if parts.folders and parts.folders[0] in (*self._listed, *_WITHOUT):
            deep = 1
        return "/".join([*parts.folders[deep:], parts.base])


class _Parts:
    """A picture's path: its split, the folders below, its name."""

    def __init__(self, picture: str) -> None:
        first, *folders = picture.split("/")[:-1] or [""]
        self.base = picture.rpartition("/")[2]
        self.split = base.split_of(first)
        self.in_split = self.split is not None or first == picture_names.UNASSIGNED
        inside = folders if self.in_split else [one for one in (first, *folders) if one]
        said = inside and inside[0].lower() in picture_names.FOLDERS
        self.folders = inside[1:] if said else inside
        self.in_pictures = bool(said)


@dataclass(slots=True)
class _Seen:
    """What lies where, counted over all pictures."""

    pictures: int = 0
    in_splits: int = 0
    in_classes: int = 0
    in_pictures: int = 0
    by_list: int = 0
    folder: str = ""
    several: bool = False
    odd: bool = False
    deep: bool = False
    in_split_classes: int = 0
    first_class: str = ""
    several_classes: bool = False

    def are_in_splits(self) -> bool:
        """Whether most lie in splits, and there in classes or in a folder of pictures."""
        said = self.in_classes or self.in_pictures == self.pictures
        most = 2 * self.in_splits > self.pictures
        return bool(said) and (most or self._are_sorted())

    def _are_sorted(self) -> bool:
        """Whether those in splits lie in several classes, beside folders that say nothing."""
        classes = self.several_classes and 2 * self.in_split_classes > self.in_splits
        return classes and not (self.deep or self.by_list)

    def are_in_classes(self) -> bool:
        """Whether most lie in one of several folders of one level that mean nothing else."""
        return self.several and not self.odd and 2 * self.in_classes > self.pictures


def _look(tree: Tree, known: set[str]) -> _Seen:
    seen = _Seen()
    for picture in tree.pictures:
        parts = _Parts(picture)
        seen.pictures += 1
        seen.in_splits += parts.in_split
        seen.in_classes += bool(parts.folders)
        seen.in_pictures += parts.in_split and parts.in_pictures and not parts.folders
        seen.by_list += "/".join(parts.folders) in known and not parts.in_split
        top = picture.partition("/")[0] if "/" in picture else ""
        seen.several |= bool(top and seen.folder and top != seen.folder)
        seen.folder = seen.folder or top
        meaning = bool(top) and picture_names.says_something(top)
        seen.odd |= meaning or len(parts.folders) > 1
        seen.deep |= not parts.in_split and len(parts.folders) > 1
        if parts.in_split and parts.folders:
            seen.in_split_classes += 1
            seen.first_class = seen.first_class or parts.folders[0]
            seen.several_classes |= parts.folders[0] != seen.first_class
    return seen
