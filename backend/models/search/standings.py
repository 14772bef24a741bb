"""What is shown of the trials of a search: of ten thousand no more than of ten."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from backend.domain import Trial, TrialState
from backend.models import trials
from backend.storage.tables import TrialRow as Row

LEADERS, UNDER_WAY = 12, 12
PAGE = 50
CURVES, POINTS = 12, 40


@dataclass(frozen=True, slots=True)
class Step:
    """A trial that was better than all before it, and when: seconds after the first one began."""

    number: int
    value: float
    seconds: float


def leaders(session: Session, search_id: int, most: int = LEADERS) -> list[Trial]:
    """The best trials, the best first, the earlier of equal ones."""
    order = (Row.value.desc(), Row.number)
    done = (Row.state == TrialState.DONE, Row.value.is_not(None))
    return _found(session, search_id, done, order, most)


def under_way(session: Session, search_id: int, most: int = UNDER_WAY) -> list[Trial]:
    """Those that are tried now."""
    return _found(session, search_id, [Row.state == TrialState.RUNNING], [Row.number], most)


def trouble(session: Session, search_id: int) -> Trial | None:
    """The first that failed, which says why for all."""
    failed = _found(session, search_id, [Row.state == TrialState.FAILED], [Row.number], 1)
    return failed[0] if failed else None


def page(session: Session, search_id: int, after: int = -1) -> list[Trial]:
    """Trials by their numbers, from the one behind that number."""
    return _found(session, search_id, [Row.number > after], [Row.number], PAGE)


def picked(session: Session, search_id: int, numbers: Collection[int]) -> list[Trial]:
    """The trials of these numbers, as many as are drawn at once."""
    wanted = sorted(numbers)[:CURVES]
    return _found(session, search_id, [Row.number.in_(wanted)], [Row.number], CURVES)


def rise(session: Session, search_id: int) -> list[Step]:
    """How the best of them became better, in the order in which trials ended."""
    order = (Row.finished, Row.number)
    before = func.max(Row.value).over(order_by=order, rows=(None, -1)).label("before")
    columns = (Row.number, Row.value, Row.finished, Row.at, before)
    done = (Row.search_id == search_id, Row.state == TrialState.DONE, Row.value.is_not(None))
    one = select(*columns).where(*done).subquery().c
    better = select(one.number, one.value, one.finished, one.at)
    better = better.where(or_(one.before.is_(None), one.value > one.before))
    began = session.scalar(select(Row.at).filter_by(search_id=search_id, number=0))
    steps = [
        Step(number, value, max(0.0, ((finished or at) - (began or at)).total_seconds()))
        for number, value, finished, at in session.execute(
            better.order_by(one.finished, one.number)
        )
    ]
    return thinned(steps, POINTS)


def thinned(every: Sequence[Any], most: int) -> list[Any]:
    """At most so many of them, evenly, with the first and the last."""
    if len(every) <= most:
        return list(every)
    apart = (len(every) - 1) / (most - 1)
    return [every[round(at * apart)] for at in range(most)]


def _found(
    session: Session,
    search_id: int,
    where: Collection[ColumnElement[bool]],
    order: Collection[Any],
    most: int,
) -> list[Trial]:
    query = select(Row).where(Row.search_id == search_id, *where).order_by(*order).limit(most)
    return [trials.to_trial(row) for row in session.scalars(query)]
