"""Plain pictures in a folder, and class folders: `[split/]class/picture`.

Our own exports of classes or splits carry a classes.txt and lie as `split/class/name of the
picture`; the class `_` means none.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from backend.domain import Split
from backend.errors import Invalid
from backend.formats import base, picture_names, writing
from backend.formats.base import Classes, Finding, Item, OutgoingPicture, Problem, Writing, Written
from backend.formats.signs import Sign
from backend.formats.source.tree import Tree

CLASSES_FILE = "classes.txt"
NO_CLASS = "_"
_NO_FOLDER = re.compile(r'[\x00-\x1f%/\\:*?"<>|]|[. ]$')


def recognise(tree: Tree) -> Sign:
    """Any picture will do."""
    return Sign.FAINT if tree.pictures else Sign.NONE


def read(tree: Tree) -> Finding:
    """The pictures, with the class and split that their folders name."""
    try:
        yield Classes(_classes(tree))
        place = _placer(tree)
    except Invalid as error:
        yield Problem(CLASSES_FILE, None, str(error))
        place = _plainly
    names = picture_names.PictureNames(tree.pictures, splits=place in (_by_folder, _by_split))
    for picture in tree.pictures:
        split, label, name = place(picture)
        yield Item(
            name or names[picture],
            functools.partial(tree.read, picture),
            labelled=bool(label),
            label=label,
            split=split,
            file=picture,
        )


def write(pictures: Iterable[OutgoingPicture], folder: Path, classes: Sequence[str]) -> Writing:
    """`split/class/` where there are splits or classes of images, else plain pictures."""
    listed = False
    for picture in pictures:
        home = _home(picture) if classes or _needs_home(picture) else ""
        if home and not listed:
            writing.put(folder, CLASSES_FILE, "\n".join([*classes, ""]).encode())
            listed = True
        writing.put(folder, home + picture.name, picture.read())
        yield Written(picture.name, 0)


def _needs_home(picture: OutgoingPicture) -> bool:
    """Whether a picture has a split, or a name that would be taken for one."""
    return picture.split is not None or picture_names.says_something(picture.name.partition("/")[0])


def _home(picture: OutgoingPicture) -> str:
    label = _folder_of(picture.label) if picture.label else NO_CLASS
    return f"{picture.split or picture_names.UNASSIGNED}/{label}/"


def _folder_of(label: str) -> str:
    """A class's name as a folder: itself, unless that would be no name or mean something else."""
    if label.startswith(".") or label == NO_CLASS:
        return f"%{ord(label[0]):02X}{_quoted(label[1:])}"
    return _quoted(label)


def _quoted(label: str) -> str:
    return _NO_FOLDER.sub(lambda found: quote(found[0], safe=""), label)


def _folder_before(label: str) -> str:
    """As earlier exports had it."""
    quoted = quote(label, safe=" ")
    return (
        quoted.replace(".", "%2E")
        if label.startswith(".")
        else quoted.replace("_", "%5F", label == "_")
    )


_Place = Callable[[str], tuple[Split | None, str, str]]


def _classes(tree: Tree) -> tuple[str, ...]:
    if CLASSES_FILE not in tree.files:
        return ()
    return tuple(text for _, text in tree.lines(CLASSES_FILE))


def _placer(tree: Tree) -> _Place:
    """How to read split, class and name off a path of this tree."""
    if CLASSES_FILE in tree.files:
        names = _classes(tree)
        classes = {call(name): name for call in (_folder_before, _folder_of) for name in names}
        return functools.partial(_ours, classes)
    if _has_class_folders(tree):
        return _by_folder
    return _by_split if _are_in_splits(tree) else _plainly


def _plainly(_: str) -> tuple[Split | None, str, str]:
    return None, "", ""


def _ours(classes: dict[str, str], picture: str) -> tuple[Split | None, str, str]:
    first, _, rest = picture.partition("/")
    folder, _, name = rest.partition("/")
    if not name or not (base.split_of(first) or first == picture_names.UNASSIGNED):
        return None, "", ""
    return base.split_of(first), classes.get(folder, ""), name


def _by_folder(picture: str) -> tuple[Split | None, str, str]:
    parts = picture.split("/")
    return base.split_of(parts[0]), parts[-2], ""


def _by_split(picture: str) -> tuple[Split | None, str, str]:
    return base.split_of(picture.split("/")[0]), "", ""


def _has_class_folders(tree: Tree) -> bool:
    """Whether every picture lies at `class/picture` or every one at `split/class/picture`."""
    folders = {posixpath.dirname(picture) for picture in tree.pictures}
    parts = [folder.split("/") if folder else [] for folder in folders]
    if not parts or any(len(one) != len(parts[0]) for one in parts):
        return False
    plain = any(picture_names.says_something(one[-1]) for one in parts if one)
    if len(parts[0]) == 2:
        return all(base.split_of(one[0]) for one in parts) and not plain
    return len(parts[0]) == 1 and len(folders) > 1 and not plain


def _are_in_splits(tree: Tree) -> bool:
    """Whether every picture lies at `split/images/picture`."""
    parts = (picture.split("/") for picture in tree.pictures)
    return all(
        len(one) == 3 and base.split_of(one[0]) and one[1].lower() in picture_names.FOLDERS
        for one in parts
    )
