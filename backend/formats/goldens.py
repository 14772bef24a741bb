"""Carries goldens through formats that know none.

Pictures below `goldens/` are clean references; `goldens.csv` says which picture is held against
which, and to which group a picture belongs. One golden without a list serves all pictures.
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from backend.errors import Invalid
from backend.formats import cells, writing
from backend.formats.base import (
    Finding,
    Item,
    OutgoingPicture,
    Problem,
    Write,
    Writing,
    Written,
)
from backend.formats.source import shelf
from backend.formats.source.tree import Read, Tree

FOLDER = "goldens"
LIST = "goldens.csv"
LONGEST_GROUP = 300
_HEAD = ["picture", "golden", "group"]


def read_with(read: Read, tree: Tree) -> Finding:
    """Read a tree by a format that knows no goldens: first the goldens, then its items."""
    found = shelf.Texts(
        (name.removeprefix(f"{FOLDER}/"), name) for name in tree.pictures if _is_golden(name)
    )
    if not found:
        yield from read(tree)
        return
    rows, problems = _rows(tree, found)
    yield from problems
    for name, file in found.pairs():
        group = _told(rows, name, "", "")[1]
        read_bytes = functools.partial(tree.read, file)
        yield Item(name, read_bytes, group=group, is_golden=True, file=file)
    only = next(iter(found)) if len(found) == 1 and LIST not in tree.files else ""
    for item in read(_rest(tree)):
        if isinstance(item, Item):
            golden, group = _told(rows, item.name, only, item.group)
            item = replace(item, golden=golden, group=group)
        yield item


def write_with(
    write: Write, pictures: Iterable[OutgoingPicture], folder: Path, classes: Sequence[str]
) -> Writing:
    """Write by a format that knows no goldens, and the goldens beside it."""
    goldens: list[Written] = []
    rows = _Rows(folder)
    try:
        yield from write(_without_goldens(pictures, folder, rows, goldens), folder, classes)
        yield from goldens
    finally:
        rows.close()


def _is_golden(name: str) -> bool:
    return name.startswith(f"{FOLDER}/")


def _rest(tree: Tree) -> Tree:
    kept = ((n, path) for n, path in tree.files.pairs() if not _is_golden(n) and n != LIST)
    return replace(tree, files=shelf.Texts(kept))


def _rows(tree: Tree, goldens: shelf.Texts) -> tuple[shelf.Texts, list[Problem]]:
    """Golden and group by the name of a picture, a tab between them."""
    rows = shelf.Texts()
    problems: list[Problem] = []
    if LIST not in tree.files:
        return rows, problems
    try:
        lines = csv.reader(io.StringIO(tree.text(LIST), newline=""))
        for number, read in enumerate(lines, 1):
            row = [cells.plain(cell) for cell in read]
            reason = _wrong(row, goldens)
            if number > 1 and reason:
                problems.append(Problem(LIST, number, reason))
            elif number > 1:
                rows[row[0]] = f"{row[1]}\t{row[2]}"
    except (Invalid, csv.Error) as error:
        reason = f"it cannot be read as a list of goldens: {error}"
        return shelf.Texts(), [Problem(LIST, None, reason)]
    return rows, problems


def _told(rows: shelf.Texts, name: str, golden: str, group: str) -> tuple[str, str]:
    """The golden and the group of a picture, as listed or else as given."""
    told = rows.get(name, f"{golden}\t{group}").split("\t")
    return told[0], told[1]


def _wrong(row: Sequence[str], goldens: shelf.Texts) -> str:
    if len(row) != len(_HEAD):
        return "it is not `picture,golden,group`."
    if row[1] and row[1] not in goldens:
        return f"the golden {row[1][:200]!r} is not in {FOLDER}/."
    if len(row[2]) > LONGEST_GROUP or not row[2].isprintable():
        return "its group is not 1 to 300 printable characters."
    return ""


class _Rows:
    """goldens.csv on its way out; made only where there is something to say."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LIST
        self._out: io.TextIOWrapper | None = None

    def add(self, picture: OutgoingPicture) -> None:
        if self._out is None:
            self._out = self._path.open("w", encoding="utf-8", newline="")
            csv.writer(self._out).writerow(_HEAD)
        row = (picture.name, picture.golden, picture.group)
        csv.writer(self._out).writerow([cells.safe(value) for value in row])

    def close(self) -> None:
        if self._out is not None:
            self._out.close()


def _without_goldens(
    pictures: Iterable[OutgoingPicture], folder: Path, rows: _Rows, goldens: list[Written]
) -> Iterator[OutgoingPicture]:
    for picture in pictures:
        if picture.is_golden:
            writing.put(folder, f"{FOLDER}/{picture.name}", picture.read())
            goldens.append(Written(picture.name, 0, is_golden=True))
        if picture.is_golden or picture.golden or picture.group:
            rows.add(picture)
        if not picture.is_golden:
            yield picture
