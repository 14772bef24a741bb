"""Figures of classes: kept by the ids of the classes, shown under their names of today."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.storage.classes.class_names import Naming

Figures = Mapping[str, Any]
Change = Callable[[Sequence[str]], Mapping[str, str]]
# What holds a value for each class, by name, and what holds figures of its own.
BY_CLASS = ("per_class", "curves")
WITHIN = ("metrics", "against")
# No name has a tab, so that what is kept of class 7 is never taken for a class named "7".
MARK = "\t"


def within(found: Figures) -> bool:
    """Whether there are figures of classes in it at all."""
    return not {*BY_CLASS, "confusion", *WITHIN}.isdisjoint(found)


def keyed(found: Figures, ids: Mapping[str, int]) -> dict[str, Any]:
    """The figures as they are kept; `ids` by the names that stand in them."""
    return _changed(found, lambda said: {one: f"{MARK}{ids[one]}" for one in said if one in ids})


def named(found: Figures, names: Naming) -> dict[str, Any]:
    """The figures as they are shown; a class merged into another one of them says what it was."""
    return _changed(found, lambda kept: _titles(kept, names))


def _changed(figures: Figures, change: Change) -> dict[str, Any]:
    found = dict(figures)
    for part in {*BY_CLASS}.intersection(found):
        to = change(list(found[part]))
        renamed = {to.get(one, one): value for one, value in found[part].items()}
        found[part] = dict(sorted(renamed.items()))
    if "confusion" in found:
        labels = found["confusion"]["labels"]
        to = change(labels)
        found["confusion"] = {**found["confusion"], "labels": [to.get(one, one) for one in labels]}
    for part in WITHIN:
        if isinstance(found.get(part), Mapping):
            found[part] = _changed(found[part], change)
    return found


def _titles(kept: Sequence[str], names: Naming) -> dict[str, str]:
    ids = [int(one[1:]) for one in kept if one.startswith(MARK)]
    shown = names.titles([one for one in ids if one in names.own])
    return {f"{MARK}{class_id}": title for class_id, title in shown.items()}
