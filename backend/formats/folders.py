"""Plain pictures, with a table of classes or without, and class folders: `[split/]class/picture`.

Our own exports of classes or splits carry a classes.txt and lie as `split/class/name of the
picture`; the class `_` means that nobody has said one, `(none)` that it is none of them.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from backend.errors import Invalid
from backend.formats import base, class_tables, picture_names, writing
from backend.formats.base import Classes, Finding, Item, OutgoingPicture, Problem, Writing, Written
from backend.formats.class_folders import NO_CLASS, NONE_OF_THEM, ClassFolders
from backend.formats.signs import Sign
from backend.formats.source.tree import Tree

CLASSES_FILE = "classes.txt"
LONGEST_FOLDER = 200  # bytes of a name, which no file system refuses
_NO_FOLDER = re.compile(r'[\x00-\x1f%/\\:*?"<>|]|[. ]$')


def recognise(tree: Tree) -> Sign:
    """Any picture will do."""
    return Sign.FAINT if tree.pictures else Sign.NONE


def read(tree: Tree) -> Finding:
    """The pictures, with the class and split that their folders and tables name."""
    names: tuple[str, ...] = ()
    listed = None
    try:
        names = _classes(tree)
        if CLASSES_FILE in tree.files:
            listed = {call(name): name for call in (_folder_before, _folder_of) for name in names}
    except Invalid as error:
        yield Problem(CLASSES_FILE, None, str(error))
    tables = yield from class_tables.read(tree)
    places = ClassFolders(tree, listed)
    yield Classes(names, of_images=places.has_classes or bool(tables))
    bare, first = 0, ""
    for picture in tree.pictures:
        place, told = places.of(picture), tables.get(picture)
        label, split = told or (place.label, "")
        if told and place.label not in ("", label):
            yield Problem(picture, None, _other(place.label, label))
        if place.beside and told is None:
            bare, first = bare + 1, first or picture
        yield Item(
            places.name(picture),
            functools.partial(tree.read, picture),
            labelled=bool(label) or (place.none and told is None),
            label=label,
            split=base.split_of(split) or place.split,
            file=picture,
        )
    if bare:
        yield Problem(first, None, _beside(bare))
    if empty := places.empty():
        yield Classes(empty, of_images=True)


def _other(folder: str, table: str) -> str:
    said = f"the class {table!r}" if table else "no class"
    return f"it lies in the folder of {folder[:80]!r}, but its table says {said}, which counts."


def _beside(number: int) -> str:
    more = f", as do {number - 1:,} more" if number > 1 else ""
    return f"it lies beside the folders of classes{more}, and has no class."


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
    none = NONE_OF_THEM if picture.none else NO_CLASS
    label = _folder_of(picture.label) if picture.label else none
    return f"{picture.split or picture_names.UNASSIGNED}/{label}/"


def _folder_of(label: str) -> str:
    """A class's name as a folder: itself, unless that would be no name or mean something else."""
    folder = _quoted(label)
    if label.startswith(".") or label in (NO_CLASS, NONE_OF_THEM):
        folder = f"%{ord(label[0]):02X}{_quoted(label[1:])}"
    if len(folder.encode()) <= LONGEST_FOLDER:
        return folder
    start = folder.encode()[: LONGEST_FOLDER - 17].decode(errors="ignore")
    return f"{start}~{hashlib.sha256(label.encode()).hexdigest()[:16]}"


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


def _classes(tree: Tree) -> tuple[str, ...]:
    if CLASSES_FILE not in tree.files:
        return ()
    return tuple(text for _, text in tree.lines(CLASSES_FILE))
