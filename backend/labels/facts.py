"""What a table of boards says of pictures (line, product, side, serial): kept as one text each.

Each picture has a text of all columns, to be searched, and one of the few columns by which whole
projects are summed up: those with so few values that a filter can list them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, func, or_
from sqlalchemy.orm import Session

from backend.errors import Invalid
from backend.projects import catalogue

OPTION = "columns"
BETWEEN = "\x1f"
MOST_COLUMNS, MOST_OFFERED, MOST_VALUES = 20, 6, 50
LONGEST_NAME, LONGEST_VALUE = 40, 200
LONGEST_OFFERED = 60  # bytes, as what is offered is part of keys, which PostgreSQL keeps short
MOST_FACETS = 1000  # ways in which values of the offered columns come together
Pair = tuple[str, str]
Columns = dict[str, list[str]]


def written(told: Mapping[str, str]) -> str:
    """What is said, as a text: each column between two marks that no value has."""
    said = [f"{name}={value}" for name, value in sorted(told.items()) if value]
    return BETWEEN + BETWEEN.join(said) + BETWEEN if said else ""


def read(text: str) -> dict[str, str]:
    """What a text says."""
    said = (one.partition("=") for one in text.split(BETWEEN) if one)
    return {name: value for name, _, value in said}


def parse(given: Iterable[str]) -> tuple[Pair, ...]:
    """Columns and their values as an address names them: line=7."""
    pairs = []
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals and value) or BETWEEN in one:
            raise Invalid(f"What boards have is said as line=7, not {one[:40]!r}.")
        pairs.append((name, value))
    return tuple(sorted(pairs))


def having(column: Any, chosen: Sequence[Pair]) -> list[ColumnElement[bool]]:
    """Whether a text says so; values of one column are alternatives."""
    return [
        or_(*(_says(column, *pair) for pair in pairs))
        for _, pairs in groupby(chosen, key=lambda pair: pair[0])
    ]


def says(text: str, chosen: Sequence[Pair]) -> bool:
    """The same of one text."""
    told, wanted = read(text), defaultdict[str, set[str]](set)
    for name, value in chosen:
        wanted[name].add(value)
    return all(told.get(name) in values for name, values in wanted.items())


def columns(session: Session, project_id: int) -> Columns:
    """The columns by which a project is summed up, with their values."""
    told: Columns = catalogue.options(session, project_id).get(OPTION, {})
    return told


def offered(found: Mapping[str, set[str]]) -> Columns:
    """Of columns, in their order, the first few with so few values that a filter can list them."""
    few = {
        name: sorted(values)
        for name, values in found.items()
        if len(values) <= MOST_VALUES
        and all(len(one.encode()) <= LONGEST_OFFERED for one in (name, *values))
    }
    return dict(list(few.items())[:MOST_OFFERED])


def _says(column: Any, name: str, value: str) -> ColumnElement[bool]:
    # Unlike LIKE, this tells large letters from small ones on both databases.
    said = f"{BETWEEN}{name}={value}{BETWEEN}"
    found: ColumnElement[bool] = func.replace(column, said, "") != column
    return found
