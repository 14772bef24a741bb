"""How values and worth of a search's trials hang together, in as much as a page can draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import spaces
from backend.domain import Search, TrialState
from backend.models.search import standings
from backend.spaces import Dimension, Spacing
from backend.storage.tables import TrialRow as Row

BEST, OTHERS = 20, 40  # lines that are drawn
LEAST = 8  # trials without which nothing is said of importance


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter with its bounds, and how much of the order of trials it explains, if known."""

    name: str
    low: float
    high: float
    explains: float | None


@dataclass(frozen=True, slots=True)
class TrialLine:
    """A trial: what it is worth, and where its values lie between the bounds, from 0 to 1."""

    number: int
    value: float
    places: Sequence[float]


@dataclass(frozen=True, slots=True)
class Insight:
    """So many trials came to their end with values of the space; some of them are drawn."""

    ended: int
    axes: Sequence[Axis]
    lines: Sequence[TrialLine]


def of_search(session: Session, search: Search) -> Insight:
    """All that was done, the best first."""
    space = spaces.parse(search.family, search.space)
    lines = _lines(session, search.id, space)
    axes = [_axis(each, at, lines) for at, each in enumerate(space)]
    drawn = [*lines[:BEST], *standings.thinned(lines[BEST:], OTHERS)]
    return Insight(len(lines), axes, drawn)


def explained(places: Sequence[float], values: Sequence[float]) -> float | None:
    """The share of the order of `values` that a curve with one bend over `places` gives back.

    What chance would give back in as few trials is taken off.
    """
    count, terms = len(values), 2 if len(set(places)) > 2 else 1
    if count < LEAST or len(set(places)) < 2 or len(set(values)) < 2:
        return None
    x, y = np.asarray(places), _ranks(values)
    columns: NDArray[np.float64] = np.stack([x**power for power in range(terms + 1)], axis=1)
    fit, *_ = np.linalg.lstsq(columns, y, rcond=None)
    left = float(((y - columns @ fit) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    return round(max(0.0, 1 - left * (count - 1) / (count - terms - 1)), 3)


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """The place of each in the order, from 1; those that are equal share theirs."""
    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[at]
    return ranks


def _lines(session: Session, search_id: int, space: Sequence[Dimension]) -> list[TrialLine]:
    done = (Row.search_id == search_id, Row.state == TrialState.DONE, Row.value.is_not(None))
    query = select(Row.number, Row.value, Row.parameters).where(*done)
    names = {each.name for each in space}
    return [
        TrialLine(number, round(value, 4), [_place(each, values[each.name]) for each in space])
        for number, value, values in session.execute(query.order_by(Row.value.desc(), Row.number))
        if names <= values.keys()
    ]


def _place(each: Dimension, value: float) -> float:
    if each.scale is Spacing.CHOICE:
        at = each.choices.index(value) if value in each.choices else 0
        return round(at / max(1, len(each.choices) - 1), 3)
    low, high = each.low, each.high
    if each.scale is Spacing.LOG:
        low, high, value = float(np.log(low)), float(np.log(high)), float(np.log(value))
    return round((value - low) / (high - low), 3)


def _axis(each: Dimension, at: int, lines: Sequence[TrialLine]) -> Axis:
    low, high = (each.choices[0], each.choices[-1]) if each.choices else (each.low, each.high)
    told = explained([one.places[at] for one in lines], [one.value for one in lines])
    return Axis(each.name, low, high, told)
