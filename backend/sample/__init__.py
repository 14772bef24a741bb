"""Draws sample projects: boards with goldens and defects, faces; may ask the nouns alone."""

from __future__ import annotations

from collections.abc import Iterator

from backend.errors import Invalid
from backend.sample import boards, faces
from backend.sample.drawn import Drawn

__all__ = ["CLASSES", "Drawn", "draw"]

CLASSES = {"pcb": boards.CLASSES, "mask": faces.CLASSES}


def draw(kind: str, images: int, seed: int = 0, look: str = "binary") -> Iterator[Drawn]:
    """`images` pictures of a kind, and before the boards of each view its golden."""
    if images < 0:
        raise Invalid(f"{images} pictures cannot be drawn; ask for one or more.")
    if kind == "pcb":
        if look not in boards.LOOKS:
            raise Invalid(f"There is no look {look!r}; there are {', '.join(boards.LOOKS)}.")
        return boards.draw(images, seed, look)
    if kind == "mask":
        return faces.draw(images, seed)
    raise Invalid(f"There is no sample kind {kind!r}; there are {', '.join(CLASSES)}.")
