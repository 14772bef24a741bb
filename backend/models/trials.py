"""The trials of a search as rows: begun, told of epoch by epoch, ended; nothing else knows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend import families, spaces
from backend.domain import Search, Task, Trial, TrialState
from backend.errors import NotFound, Refused
from backend.models.search import guided, sampling
from backend.storage.tables import TrialRow
from backend.storage.types import now

# How often a trial may begin without coming to the end of an epoch.
MOST_TRIES = 4
DIED = (
    f"The process that tried it ended {MOST_TRIES} times before an epoch was done, perhaps for "
    "want of memory."
)
RANDOM, GUIDED = "random", "guided"
METHODS = (RANDOM, GUIDED)
Row = TrialRow


def figure(family: str) -> str:
    """By which figure of the validation images the trials of a family are told apart."""
    return "map50" if families.find(family).task is Task.DETECT else "accuracy"


def of_search(session: Session, search_id: int) -> list[Trial]:
    """All trials of a search, in their order."""
    query = select(Row).where(Row.search_id == search_id).order_by(Row.number)
    return [to_trial(row) for row in session.scalars(query)]


def get(session: Session, search_id: int, number: int) -> Trial:
    """A trial of a search by its number."""
    return to_trial(_found(session, search_id, number))


def counts(session: Session, search_id: int) -> dict[str, int]:
    """How many trials are in each state."""
    return counts_of(session, [search_id])[search_id]


def counts_of(session: Session, searches: Collection[int]) -> dict[int, dict[str, int]]:
    """The same of several searches at once."""
    columns = (Row.search_id, Row.state, func.count())
    query = select(*columns).where(Row.search_id.in_(searches))
    found: dict[int, dict[str, int]] = {search: {} for search in searches}
    for search, state, number in session.execute(query.group_by(Row.search_id, Row.state)):
        found[search][state] = number
    return found


def values(search: Search, known: list[Trial]) -> dict[str, float] | None:
    """What a new trial would try, None where there is to be none; asks no database."""
    number = len(known)
    if search.trials and number >= search.trials:
        return None
    space = spaces.parse(search.family, search.space)
    if search.method == GUIDED:
        return guided.draw(space, search.seed, number, known, figure(search.family))
    return sampling.draw(space, search.seed, number, [dict(one.parameters) for one in known])


def draw(
    session: Session,
    search: Search,
    known: list[Trial],
    guess: Mapping[str, float] | None = None,
) -> Trial | None:
    """A new trial, unless there are as many as were asked for, or nothing is left to be tried.

    `guess` is what `values` has said of it before, if it was asked.
    """
    tried = values(search, known) if guess is None else guess
    if tried is None:
        return None
    row = Row(search_id=search.id, number=len(known), parameters=dict(tried))
    session.add(row)
    session.flush()
    return to_trial(row)


def begin(session: Session, trial: Trial, device: str) -> Trial:
    """A process begins a trial, or goes on with it; one that too many have died of has failed."""
    row = _row(session, trial)
    row.tries, row.device = row.tries + 1, device
    if row.tries > MOST_TRIES:
        _end(row, TrialState.FAILED, error=DIED)
    session.flush()
    return to_trial(row)


def let_go(session: Session, trial: Trial) -> None:
    """The trial was interrupted on purpose, which says nothing of it."""
    _row(session, trial).tries = 0


def epoch(
    session: Session, trial: Trial, epoch: int, figures: Mapping[str, float], seconds: float
) -> Trial:
    """Keep the figures of an epoch; one that was done again counts once."""
    row = _row(session, trial)
    before = [one for one in row.epochs if one["epoch"] < epoch]
    row.epochs = [*before, {"epoch": epoch, **figures}]
    row.seconds, row.tries = row.seconds + seconds, 0
    session.flush()
    return to_trial(row)


def end(
    session: Session,
    trial: Trial,
    state: TrialState,
    *,
    value: float | None = None,
    error: str = "",
    seconds: float = 0.0,
) -> Trial:
    """The trial is over, for good."""
    row = _row(session, trial)
    row.seconds += seconds
    _end(row, state, value, error)
    session.flush()
    return to_trial(row)


def stop(session: Session, search_id: int, number: int) -> Trial:
    """Ask a trial that is under way to end after its epoch; the search goes on."""
    row = _found(session, search_id, number)
    if row.state != TrialState.RUNNING:
        raise Refused(f"Trial {number} has ended, so it cannot be stopped.")
    row.stopping = True
    session.flush()
    return to_trial(row)


def keep_weights(session: Session, search_id: int, kept: Mapping[int, str]) -> None:
    """Which trials have weights in the store; those of the others are not needed any more."""
    others = (Row.search_id == search_id, Row.number.not_in(kept))
    session.execute(update(Row).where(*others).values(weights=""))
    for number, weights in kept.items():
        _found(session, search_id, number).weights = weights


def to_trial(row: Row) -> Trial:
    """The row as all others know it."""
    values: dict[str, Any] = dict(row.parameters)
    return Trial(
        search_id=row.search_id,
        number=row.number,
        state=TrialState(row.state),
        parameters=values,
        epochs=tuple(row.epochs),
        value=row.value,
        device=row.device,
        seconds=row.seconds,
        tries=row.tries,
        stopping=row.stopping,
        error=row.error,
        weights=row.weights,
    )


def _end(row: Row, state: TrialState, value: float | None = None, error: str = "") -> None:
    row.state, row.value, row.error, row.finished = state, value, error, now()


def _row(session: Session, trial: Trial) -> Row:
    return _found(session, trial.search_id, trial.number)


def _found(session: Session, search_id: int, number: int) -> Row:
    row = session.get(Row, (search_id, number), populate_existing=True)
    if row is None:
        raise NotFound(f"The search {search_id} has no trial {number}.")
    return row
