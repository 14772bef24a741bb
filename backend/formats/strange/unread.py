"""What a source holds that looks like labels and that no reader took: said, a line a kind."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from backend.errors import Invalid
from backend.formats import flat, goldens
from backend.formats.base import Problem
from backend.formats.format_table import DESCRIBING, DataSet
from backend.formats.source.tree import MOST_LOOKED_AT, Tree, suffix
from backend.formats.strange import layouts
from backend.formats.strange.layouts import Layout
from backend.formats.strange.peek import Peek

ENDINGS = (*DESCRIBING, *layouts.LINES, ".xml", ".csv", ".tsv", ".txt")
OURS = (goldens.LIST, flat.LIST)
_SHAPES = re.compile(r"<(box|bndbox|object|polygon|points|region|rectangle)\b", re.IGNORECASE)
_NUMBERS = re.compile(r"(-?\d+(\.\d+)?[\s,]+){3}-?\d+(\.\d+)?")


def find(tree: Tree, cut: Sequence[DataSet]) -> Iterator[Problem]:
    """The files from which no label was taken, or not all of it, each kind by its first file."""
    taken = _Taken(tree, cut)
    numbers = Counter(suffix(name) for name in _told(tree))
    for ending in ENDINGS:
        if numbers[ending]:
            yield from _of_ending(tree, ending, numbers[ending], taken)


def _told(tree: Tree) -> Iterator[str]:
    """The files that may hold labels: all but our own lists, or the one pointed at."""
    chosen = [tree.manifest] if tree.manifest else tree.files
    return (name for name in chosen if posixpath.basename(name) not in OURS)


class _Taken:
    """Which files the parts of a source read, and as what."""

    def __init__(self, tree: Tree, cut: Sequence[DataSet]) -> None:
        self._tree = tree
        self._parts = cut
        self._described = {
            part.tree.prefix + name for part in cut for name in part.format.descriptions(part.tree)
        }
        self.titles = ", ".join(dict.fromkeys(part.format.title for part in cut))

    def by(self, name: str) -> str:
        """The format that reads a file, '' where none does."""
        whole = self._tree.prefix + name
        home = next((one for one in self._parts if whole.startswith(one.tree.prefix)), None)
        if whole in self._described or (home and suffix(name) in home.format.takes):
            return home.format.name if home else ""
        return ""

    def labels_at(self, name: str) -> bool:
        """Whether the part that a file lies in has labels of a format."""
        whole = self._tree.prefix + name
        return any(whole.startswith(one.tree.prefix) and one.format.boxes for one in self._parts)


def _of_ending(tree: Tree, ending: str, number: int, taken: _Taken) -> Iterator[Problem]:
    """Some files are looked at, from all over the source; the others count as like them."""
    every = (name for name in _told(tree) if suffix(name) == ending)
    step = max(1, number // MOST_LOOKED_AT)
    kinds: dict[Layout | str, list[str]] = {}
    for name in itertools.islice(every, 0, None, step):
        kind = _kind(tree, name, ending, taken)
        if kind:
            kinds.setdefault(kind, []).append(name)
    for kind, names in kinds.items():
        more = len(names) * step - 1 if step == 1 else f"about {len(names) * step - 1:,}"
        others = f" and {more} more of its kind" if more else ""
        yield _problem(kind, names[0], others)


def _kind(tree: Tree, name: str, ending: str, taken: _Taken) -> Layout | str:
    """The layout of a file that was not read, or why it was not; '' where it holds no labels."""
    reader = taken.by(name)
    if reader and not any(row.read_by == reader for row in layouts.LAYOUTS):
        return ""
    try:
        peek = Peek(tree, name)
        known = layouts.layout(peek, ending, reader)
        if known or reader:
            return known or ""
        if ending in DESCRIBING:
            return _why_no_text(tree, name) or f"the source was read as {taken.titles}."
        strange = not taken.labels_at(name) and _looks_like_labels(peek, ending)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}."
    return "its layout is not known here." if strange else ""


def _problem(kind: Layout | str, name: str, others: str) -> Problem:
    if isinstance(kind, str):
        return Problem(name, None, f"no label was taken from it{others}: {kind}")
    if kind.read_by:
        return Problem(name, None, f"it is {kind.name}{others}: {kind.advice}.")
    return Problem(
        name,
        None,
        f"no label was taken from it{others}: it is {kind.name}, which is not read here. "
        f"The pictures that came in stay. To get their labels, {kind.advice}, and import again.",
    )


def _looks_like_labels(peek: Peek, ending: str) -> bool:
    """Whether a file of no known layout says something of places in a picture."""
    if ending == ".xml":
        return bool(_SHAPES.search(peek.text))
    beside = posixpath.splitext(posixpath.basename(peek.name))[0] in peek.tree.by_stem
    return ending == ".txt" and beside and bool(_NUMBERS.search("\n".join(peek.lines)))


def _why_no_text(tree: Tree, name: str) -> str:
    try:
        tree.text(name)
    except Invalid as error:
        return str(error)
    return ""
