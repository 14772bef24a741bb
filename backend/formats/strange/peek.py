"""The beginning of a file, as the signs of layouts look at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from backend.formats.source.tree import PICTURES, Tree, suffix

BYTES = 32 * 1024
LINES = 20


@dataclass(frozen=True, eq=False)
class Peek:
    """A file of a source, by its first bytes."""

    tree: Tree
    name: str

    @cached_property
    def text(self) -> str:
        """The beginning, from the first letter on."""
        with self.tree.path(self.name).open("rb") as source:
            return source.read(BYTES).decode("utf-8-sig", "replace").lstrip()

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that hold something; one that is cut off is none."""
        found = self.text.split("\n")
        whole = found if len(self.text.encode()) < BYTES - 4 else found[:-1]
        return [line.strip() for line in whole if line.strip()][:LINES]

    def names_picture(self, word: str) -> bool:
        """Whether a word is the name of a picture of the source, with ending or without."""
        base = PurePosixPath(word.replace("\\", "/")).name
        if suffix(base) in PICTURES:
            return PurePosixPath(base).stem in self.tree.by_stem
        return bool(base) and base in self.tree.by_stem


def says(start: str, *words: str) -> Callable[[Peek], bool]:
    """The sign that a file begins so and holds all these words."""

    def sign(peek: Peek) -> bool:
        return peek.text.startswith(start) and all(word in peek.text for word in words)

    return sign
