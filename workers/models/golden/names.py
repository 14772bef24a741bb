"""Which class of a project a kind of defect is."""

from __future__ import annotations

from collections.abc import Sequence

from workers.models.golden import rules

DIFFERENCE = "difference"
ALSO = {
    "open": ("open", "opencircuit", "cut"),
    "short": ("short", "shortcircuit", "bridge"),
    "mousebite": ("mousebite",),
    "spur": ("spur",),
    "copper": ("copper", "spuriouscopper"),
    "pin-hole": ("pinhole",),
}


def classes_for(wanted: Sequence[str]) -> tuple[str, ...]:
    """The classes of an untrained model: the project's, and `difference` if a kind has no name."""
    chosen = tuple(wanted) or rules.KINDS
    if DIFFERENCE in chosen or all(_found(kind, chosen) is not None for kind in rules.KINDS):
        return chosen
    return (*chosen, DIFFERENCE)


def indexes(classes: Sequence[str]) -> tuple[int, ...]:
    """For each kind of the rules its index among the classes."""
    spare = classes.index(DIFFERENCE) if DIFFERENCE in classes else 0
    found = (_found(kind, classes) for kind in rules.KINDS)
    return tuple(spare if each is None else each for each in found)


def _found(kind: str, classes: Sequence[str]) -> int | None:
    plain = ["".join(filter(str.isalnum, name)).lower() for name in classes]
    return next((plain.index(name) for name in ALSO[kind] if name in plain), None)
