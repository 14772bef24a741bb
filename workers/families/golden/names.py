"""Which class of a project a kind of defect is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from workers.families.golden import rules

DIFFERENCE = "difference"
ALSO = {
    "open": ("open", "opencircuit", "cut"),
    "short": ("short", "shortcircuit", "bridge"),
    "mousebite": ("mousebite",),
    "spur": ("spur",),
    "copper": ("copper", "spuriouscopper"),
    "pin-hole": ("pinhole", "missinghole"),
}


def known(names: Collection[str]) -> str:
    """Of the names that one class has and had, the one by which the rules know it, if there is."""
    return next((n for n in sorted(names) if any(_found(k, [n]) == 0 for k in ALSO)), min(names))


def classes_for(wanted: Sequence[str]) -> tuple[str, ...]:
    """The classes of an untrained model: the project's, and `difference` if a kind has no name."""
    chosen = tuple(wanted) or rules.KINDS
    if DIFFERENCE in chosen or all(_found(kind, chosen) is not None for kind in rules.KINDS):
        return chosen
    return (*chosen, DIFFERENCE)


def table(classes: Sequence[str]) -> NDArray[np.float64]:
    """(kinds of the rules, classes): 1 where they are the same; what has no name could be any."""
    spare = classes.index(DIFFERENCE) if DIFFERENCE in classes else None
    same = np.zeros((len(rules.KINDS), len(classes)))
    for row, kind in enumerate(rules.KINDS):
        index = _found(kind, classes)
        index = spare if index is None else index
        same[row, slice(None) if index is None else index] = 1
    return np.asarray(same / same.sum(axis=1, keepdims=True))


def _found(kind: str, classes: Sequence[str]) -> int | None:
    plain = ["".join(filter(str.isalnum, name)).lower() for name in classes]
    return next((plain.index(name) for name in ALSO[kind] if name in plain), None)
