"""DeepPCB: pairs of a tested board and its template, and boxes as lines of text.

`ID_test.jpg` is the board, `ID_temp.jpg` its golden; `trainval.txt` and `test.txt` list them as
`dir/ID.jpg dir_not/ID.txt`, though no `ID.jpg` exists. A box is `x1 y1 x2 y2 type`; upstream's
page separates by commas, its files by spaces.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TextIO
from urllib.parse import quote

from backend.domain import Split
from backend.errors import Invalid
from backend.formats import base, picture_names, signs, writing
from backend.formats.base import (
    Classes,
    Finding,
    Item,
    Labelled,
    OutgoingPicture,
    Problem,
    Writing,
    Written,
)
from backend.formats.signs import Sign
from backend.formats.source import numbers, shelf
from backend.formats.source.tree import Tree

KINDS = ("open", "short", "mousebite", "spur", "copper", "pin-hole")
CLASSES_FILE = "classes.txt"
LISTS = {Split.TRAIN: "trainval.txt", Split.VAL: "val.txt", Split.TEST: "test.txt", None: "all.txt"}
_SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class _Board:
    """A tested board: its picture, its golden ('' where missing), its boxes' file."""

    picture: str
    golden: str
    labels: str
    split: Split | None


def recognise(tree: Tree) -> Sign:
    """Lists of pairs, or pairs of `_test` and `_temp`."""
    if _lists(tree):
        return Sign.STRONG
    if tree.manifest or not any(tree.picture(f"{stem}_temp") for stem, _ in _tested(tree)):
        return Sign.NONE
    stems = (posixpath.splitext(picture)[0] for picture in tree.pictures)
    return signs.of_most(stem.endswith(("_test", "_temp")) for stem in stems)


def read(tree: Tree) -> Finding:
    """Each golden, then the board it belongs to."""
    boards = _boards(tree)
    names = _names(tree)
    try:
        kinds = _kinds(tree)
    except Invalid as error:
        yield Problem(CLASSES_FILE, None, str(error))
        kinds = dict(enumerate(KINDS, 1))
    yield Classes(tuple(kinds.values()))
    seen = shelf.NameSet()
    for board in boards:
        if isinstance(board, Problem):
            yield board
            continue
        if board.picture in seen:
            yield Problem(board.picture, None, "it is listed twice; the first time counts.")
            continue
        seen.add(board.picture)
        if board.golden:
            yield _golden(tree, board, names)
        else:
            yield Problem(board.picture, None, "its template (…_temp) is missing.")
        yield from _board(tree, board, names, kinds)


def write(pictures: Iterable[OutgoingPicture], folder: Path, classes: Sequence[str]) -> Writing:
    """Boards with their templates, and the lists of the splits."""
    known = {name: index for index, name in enumerate(KINDS, 1)}
    if not set(classes) <= set(KINDS):
        known = {name: index for index, name in enumerate(classes, 1)}
        writing.put(folder, CLASSES_FILE, "\n".join([*classes, ""]).encode())
    stems = writing.Stems()
    with ExitStack() as stack:
        lists: dict[Split | None, TextIO] = {}
        for picture in pictures:
            if picture.is_golden:
                continue  # each is written beside the boards that use it
            stem = _stem(picture.name, stems)
            yield from _write_board(picture, folder, stem, known)
            if not picture.labelled:
                continue  # a list names labels; a pair outside of the lists has none
            if picture.split not in lists:
                path = folder / LISTS[picture.split]
                lists[picture.split] = stack.enter_context(path.open("w", encoding="utf-8"))
            ending = writing.ending(picture.name)
            lists[picture.split].write(f"{stem}{ending} {_labels_of(stem)}\n")


def _stem(name: str, stems: writing.Stems) -> str:
    """The path of a board without `_test`, free of what separates columns in a list."""
    path = PurePosixPath(quote(name, safe="/!#$&'()+;=@[]{}~"))
    stem = stems.take(str(path.with_name(path.stem.removesuffix("_test") + path.suffix)))
    return stem if "/" in stem else f"images/{stem}"


def _write_board(
    picture: OutgoingPicture, folder: Path, stem: str, known: Mapping[str, int]
) -> Iterator[Written | Problem]:
    ending = writing.ending(picture.name)
    writing.put(folder, f"{stem}_test{ending}", picture.read())
    if picture.golden_read is None:
        yield Problem(picture.name, None, "it has no golden, so it is written without a template.")
    else:
        golden = f"{stem}_temp{writing.ending(picture.golden) or ending}"
        writing.put(folder, golden, picture.golden_read())
        yield Written(picture.golden, 0, is_golden=True)
    if picture.labelled:
        lines = [
            " ".join([*map(base.number, (box.x1, box.y1, box.x2, box.y2)), str(known[box.label])])
            for box in picture.boxes
        ]
        writing.put(folder, _labels_of(stem), "\n".join([*lines, ""]).encode())
    yield Written(picture.name, len(picture.boxes) if picture.labelled else 0)


def _lists(tree: Tree) -> list[tuple[str, Split | None]]:
    """The lists of one folder, the one nearest to the root, or the list pointed at."""
    if tree.manifest:
        return [(tree.manifest, _split(tree.manifest))] if _is_list(tree, tree.manifest) else []
    wanted = (f"{stem}.txt" for stem in (*base.SPLITS, "all"))
    found = [name for name in tree.called(*wanted) if _is_list(tree, name)]
    home = posixpath.dirname(found[0]) if found else ""
    return [(name, _split(name)) for name in found if posixpath.dirname(name) == home]


def _split(name: str) -> Split | None:
    return base.split_of(PurePosixPath(name).stem)


def _is_list(tree: Tree, name: str) -> bool:
    try:
        first = next(tree.lines(name), None)
    except Invalid:
        return False
    words = _SEPARATOR.split(first[1]) if first else []
    return len(words) in (2, 3) and words[-1].lower().endswith(".txt")


def _boards(tree: Tree) -> Iterator[_Board | Problem]:
    listed = shelf.NameSet()
    for name, split in _lists(tree):
        for line, text in tree.lines(name):
            board = _listed(tree, name, text, split)
            if isinstance(board, str):
                yield Problem(name, line, board)
            else:
                if not board.labels:
                    yield Problem(name, line, "the label file of this line is not in the source.")
                listed.add(board.picture)
                yield board
    if tree.manifest:
        return
    for bare, picture in _tested(tree):
        if picture not in listed:
            labels = _labels_of(bare)
            labels = labels if labels in tree.files else f"{bare}.txt"
            yield _Board(picture, tree.picture(f"{bare}_temp"), labels, None)


def _tested(tree: Tree) -> Iterator[tuple[str, str]]:
    """The tested boards: path without `_test` and ending, and the picture."""
    for picture in tree.pictures:
        stem = posixpath.splitext(picture)[0]
        if stem.endswith("_test"):
            yield stem.removesuffix("_test"), picture


def _listed(tree: Tree, name: str, text: str, split: Split | None) -> _Board | str:
    """The board that a line of a list means, or why there is none."""
    words = _SEPARATOR.split(text)
    if len(words) not in (2, 3):
        return f"{text[:80]!r} is not `picture labels`."
    home = posixpath.dirname(name)
    stem = re.sub(r"_(test|temp)$", "", posixpath.splitext(words[-2])[0])
    picture = tree.picture(posixpath.normpath(posixpath.join(home, f"{stem}_test")))
    if not picture:
        picture = tree.find(f"{stem}_test{posixpath.splitext(words[-2])[1]}", home)
    if not picture:
        return f"the picture {words[-2]!r} (…_test) is not in the source."
    golden = tree.picture(posixpath.splitext(picture)[0].removesuffix("_test") + "_temp")
    return _Board(picture, golden, tree.find(words[-1], home), split)


def _labels_of(stem: str) -> str:
    folder, _, last = stem.rpartition("/")
    return f"{folder}_not/{last}.txt"


def _names(tree: Tree) -> picture_names.PictureNames:
    """Names begin below the folder of the lists."""
    lists = _lists(tree)
    home = posixpath.dirname(lists[0][0]) + "/" if lists and "/" in lists[0][0] else ""
    return picture_names.PictureNames(tree.pictures, splits=False, home=home)


def _kinds(tree: Tree) -> dict[int, str]:
    found = tree.called(CLASSES_FILE)
    names = [text for _, text in tree.lines(found[0])] if found else KINDS
    return dict(enumerate(names, 1))


def _golden(tree: Tree, board: _Board, names: picture_names.PictureNames) -> Item:
    return Item(
        names[board.golden],
        functools.partial(tree.read, board.golden),
        group=_group(names[board.golden]),
        is_golden=True,
        file=board.golden,
    )


def _group(name: str) -> str:
    return name.split("/")[0] if "/" in name else ""


def _board(
    tree: Tree, board: _Board, names: picture_names.PictureNames, kinds: Mapping[int, str]
) -> Iterator[Item | Problem]:
    boxes: list[Labelled] = []
    labelled = board.labels in tree.files
    try:
        for line, text in tree.lines(board.labels) if labelled else ():
            try:
                boxes.append(_box(line, text, kinds))
            except Invalid as error:
                yield Problem(board.labels, line, str(error))
    except Invalid as error:
        yield Problem(board.labels, None, str(error))
        labelled = False
    yield Item(
        names[board.picture],
        functools.partial(tree.read, board.picture),
        tuple(boxes),
        labelled,
        split=board.split,
        group=_group(names[board.picture]),
        golden=names[board.golden] if board.golden else "",
        file=board.picture,
        label_file=board.labels,
    )


def _box(line: int, text: str, kinds: Mapping[int, str]) -> Labelled:
    words = _SEPARATOR.split(text)
    if len(words) != 5:
        raise Invalid(f"{text[:80]!r} is not `x1 y1 x2 y2 type`.")
    x1, y1, x2, y2 = numbers.floats(words[:4])
    kind = numbers.index(words[4])
    if kind == 0:
        raise Invalid("type 0 is the background, not a defect.")
    if kind not in kinds:
        raise Invalid(f"there is no defect type {kind}; there are 1 to {len(kinds)}.")
    return Labelled(x1, y1, x2, y2, kinds[kind], line)
