"""Tables beside plain pictures that name a class for each: CSV of `name,class[,split]`."""

from __future__ import annotations

import posixpath
from collections.abc import Generator, Iterator

from backend.domain import Split
from backend.errors import Invalid
from backend.formats import base, flat, goldens
from backend.formats.base import Problem
from backend.formats.source import shelf, tabular
from backend.formats.source.tree import Tree

PICTURE = ("name", "file", "filename", "file_name", "image", "picture", "path")
CLASS = ("class", "label", "category")
SPLIT = ("split", "set", "subset")
# Who has one of these tells of places in a picture, or of what a model found.
MORE = frozenset(
    {"x", "x1", "xmin", "x_min", "left", "bbox", "bbox_x", "box", "predictionstring"}
    | {"encodedpixels", "rle", "segmentation", "score", "confidence", "run"}
)
_APART = "\0"


class Labels:
    """The class and split that tables give to a picture, on a shelf."""

    def __init__(self) -> None:
        self._said = shelf.Texts()

    def add(self, picture: str, label: str, split: str) -> None:
        """Keep what a row says."""
        self._said[picture] = label + _APART + split

    def __bool__(self) -> bool:
        return len(self._said) > 0

    def get(self, picture: str) -> tuple[str, str] | None:
        """The class and the word for the split, or None where no row speaks of the picture."""
        said = self._said.get(picture)
        return None if said is None else (said.partition(_APART)[0], said.partition(_APART)[2])


def files(tree: Tree) -> list[str]:
    """The tables of a source that are such."""
    return [name for name in tree.named(".csv", ".tsv") if _is_one(tree, name)]


def read(tree: Tree) -> Generator[Problem, None, Labels]:
    """What all tables say; a row that cannot be used is told, and the first of two stands."""
    labels = Labels()
    for name in files(tree):
        try:
            for line, row in tabular.rows(tree.text(name), name, (PICTURE, CLASS)):
                reason = _take(tree, name, row, labels)
                if reason:
                    yield Problem(name, line, reason)
        except Invalid as error:
            yield Problem(name, None, str(error))
    return labels


def _is_one(tree: Tree, name: str) -> bool:
    if posixpath.basename(name) in (flat.LIST, goldens.LIST):
        return False
    head = set(_head(tree, name))
    return bool(head & {*PICTURE} and head & {*CLASS}) and not head & MORE


def _head(tree: Tree, name: str) -> Iterator[str]:
    """The words of the first line, where it is text at all."""
    with tree.path(name).open("rb") as file:
        line = file.readline(10_000).decode("utf-8-sig", "replace")
    separator = max(tabular.SEPARATORS, key=line.count)
    return (word.strip().strip('"').lower() for word in line.split(separator))


def _take(tree: Tree, name: str, row: dict[str, str], labels: Labels) -> str:
    """Keep a row, or say why it cannot be."""
    called, label = _first(row, PICTURE), _first(row, CLASS)
    split = _first(row, SPLIT)
    picture = _picture(tree, called, posixpath.dirname(name))
    if not picture:
        return f"its picture {called[:80]!r} is not in the source, or is there more than once."
    there = labels.get(picture)
    if there is not None:
        same = there == (label, split)
        return "" if same else f"{called[:80]!r} has a line already, with the class {there[0]!r}."
    known = not split or base.split_of(split) is not None
    labels.add(picture, label, split if known else "")
    return "" if known else f"{split[:40]!r} is no split: there are {', '.join(Split)}."


def _first(row: dict[str, str], columns: tuple[str, ...]) -> str:
    return next((row[one].strip() for one in columns if row.get(one)), "")


def _picture(tree: Tree, called: str, folder: str) -> str:
    """The picture that a row means, also by its name without ending."""
    found = tree.find(called, folder) if called else ""
    if found or not called:
        return found
    stems = tree.by_stem.get(posixpath.basename(called))
    return stems[0] if len(stems) == 1 else ""
