"""Lays pictures in one folder, as most programs expect them, and keeps what they are called.

`names.csv` tells the name of each picture whose file is called otherwise: `a/1 b.jpg` is written
as `a_1_b.jpg`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from backend.errors import Invalid
from backend.formats import cells, picture_names, writing
from backend.formats.base import Finding, Item, OutgoingPicture, Problem, Write, Writing, Written
from backend.formats.source import shelf
from backend.formats.source.tree import Read, Tree

LIST = "names.csv"
_HEAD = ["file", "name"]
_APART = re.compile(r"[/\s]+")


def read_with(read: Read, tree: Tree) -> Finding:
    """Read a tree, and give the pictures their names back."""
    names = shelf.Texts()
    for line, row in _rows(tree):
        if isinstance(row, Problem) or len(row) != len(_HEAD):
            reason = "it is not `file,name`."
            yield row if isinstance(row, Problem) else Problem(LIST, line, reason)
        else:
            names[cells.plain(row[0])] = cells.plain(row[1])
    for one in read(tree):
        yield replace(one, name=names.get(one.name, one.name)) if isinstance(one, Item) else one


def write_with(
    write: Write, pictures: Iterable[OutgoingPicture], folder: Path, classes: Sequence[str]
) -> Writing:
    """Write pictures under names without folders and spaces, each under one of its own."""
    out = _Names(folder)
    try:
        for done in write(out.flat(pictures), folder, classes):
            yield replace(done, name=out.name) if isinstance(done, Written) else done
    finally:
        out.close()


def _rows(tree: Tree) -> Iterator[tuple[int, list[str] | Problem]]:
    if LIST not in tree.files:
        return
    try:
        rows = csv.reader(io.StringIO(tree.text(LIST), newline=""))
        next(rows, None)
        yield from enumerate(rows, 2)
    except (Invalid, csv.Error) as error:
        yield 0, Problem(LIST, None, f"it cannot be read as a list of names: {error}")


class _Names:
    """names.csv on its way out; `name` is that of the picture under way."""

    def __init__(self, folder: Path) -> None:
        self.name = ""
        self._path = folder / LIST
        self._stems = writing.Stems()
        self._out: io.TextIOWrapper | None = None

    def flat(self, pictures: Iterable[OutgoingPicture]) -> Iterator[OutgoingPicture]:
        for picture in pictures:
            self.name = picture.name
            picture_names.safe(picture.name)
            stem = self._stems.take(_APART.sub("_", picture.name))
            file = stem + writing.ending(picture.name)
            if file != picture.name:
                self._add(file, picture.name)
            yield replace(picture, name=file)

    def _add(self, file: str, name: str) -> None:
        if self._out is None:
            self._out = self._path.open("w", encoding="utf-8", newline="")
            csv.writer(self._out).writerow(_HEAD)
        csv.writer(self._out).writerow([cells.safe(file), cells.safe(name)])

    def close(self) -> None:
        if self._out is not None:
            self._out.close()
