"""Labels of one picture as text in a table: corners, YOLO's fractions, or a JSON list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from backend.errors import Invalid
from backend.formats import deeppcb
from backend.formats.base import Labelled, Problem
from backend.formats.source import numbers

Size = tuple[int, int]


def read(text: str, size: Size) -> Iterator[Labelled | Problem]:
    """The boxes of a picture of that size, line by line; what is no box is a problem."""
    if text.lstrip().startswith("["):
        yield from _listed(text)
        return
    for line, one in enumerate(text.splitlines(), 1):
        if one.strip():
            try:
                yield _box(one, line, size)
            except Invalid as error:
                yield Problem("", line, str(error))


def _box(text: str, line: int, size: Size) -> Labelled:
    """`x1 y1 x2 y2 class`, `number cx cy w h` in fractions, or `class x1 y1 x2 y2`."""
    words = text.replace(",", " ").split()
    if len(words) < 5:
        raise Invalid(f"{text[:80]!r} is no box: x1 y1 x2 y2 class.")
    if len(words) == 5 and _are_fractions(words):
        x, y, width, height = numbers.floats(words[1:])
        return Labelled(
            (x - width / 2) * size[0], (y - height / 2) * size[1],
            (x + width / 2) * size[0], (y + height / 2) * size[1],
            str(numbers.index(words[0])), line,
        )  # fmt: skip
    try:
        x1, y1, x2, y2 = numbers.floats(words[:4])
        label = " ".join(text.replace(",", " ").split(None, 4)[4:]).strip()
    except Invalid:
        x1, y1, x2, y2 = numbers.floats(words[-4:])
        label = " ".join(words[:-4])
    return Labelled(x1, y1, x2, y2, _named(label), line)


def _are_fractions(words: list[str]) -> bool:
    try:
        return words[0].isdecimal() and all(0 <= one <= 1 for one in numbers.floats(words[1:]))
    except Invalid:
        return False


def _named(label: str) -> str:
    """DeepPCB tells its classes by numbers."""
    known = dict(enumerate(deeppcb.KINDS, 1))
    return known.get(int(label), label) if label.isdecimal() and len(label) < 3 else label


def _listed(text: str) -> Iterator[Labelled | Problem]:
    try:
        found = json.loads(text)
    except RecursionError:
        yield Problem("", None, "it is no list of boxes: it is nested too deeply.")
        return
    except ValueError as error:
        yield Problem("", getattr(error, "lineno", None), f"it is no JSON: {error}.")
        return
    for number, one in enumerate(found, 1):
        try:
            yield _described(one)
        except (KeyError, TypeError, ValueError, OverflowError):
            yield Problem("", None, f"the box {number} of its list has no corners and class.")


def _described(one: Any) -> Labelled:
    if not isinstance(one, dict):
        raise TypeError
    corners = one.get("box", one)
    label = str(one[next((key for key in ("class", "label", "name") if key in one), "class")])
    x1, y1, x2, y2 = (float(corners[key]) for key in ("x1", "y1", "x2", "y2"))
    return Labelled(x1, y1, x2, y2, label)
