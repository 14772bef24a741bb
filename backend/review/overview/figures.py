"""The figures of an overview, as a page is shown them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend import intervals


@dataclass(frozen=True, slots=True)
class Yield:
    """Boards by verdict; `share` of those that have one pass, between `low` and `high` (95 %).

    `said` are those of which a person has said the verdict.
    """

    passed: int
    failed: int
    asked: int
    said: int
    boards: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class NamedYield:
    """The yield of a lot (empty: of no lot) or of a day."""

    name: str
    of: Yield


@dataclass(frozen=True, slots=True)
class StandingClass:
    """A class on the boards; `so_far` is its share of all defects with all before it.

    `right`, `escapes` and `false_calls` are of boards that are labelled; `at_most` bounds the share
    of escapes at 95 %.
    """

    name: str
    color: str
    defects: int
    boards: int
    so_far: float
    right: int
    escapes: int
    false_calls: int
    at_most: float | None


@dataclass(frozen=True, slots=True)
class LotClass:
    """How often a class stands on the boards of a lot."""

    group: str
    label: str
    defects: int
    boards: int


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """Detections with a score from `low` to below `high`, and the boards that they are on."""

    low: float
    high: float
    detections: int
    boards: int


@dataclass(frozen=True, slots=True)
class Spot:
    """Defects whose middle lies in a cell of the board, and the boards that they are on."""

    cell: int
    column: int
    row: int
    defects: int
    boards: int


@dataclass(frozen=True, slots=True)
class Mistaken:
    """A run against the labels of boards that are done; `at_most` bounds the escapes at 95 %."""

    images: int
    right: int
    escapes: int
    false_calls: int
    at_most: float | None


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run that can be shown."""

    run: int
    model: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RunYield:
    """A run among those before it."""

    run: int
    model: str
    at: datetime
    of: Yield


@dataclass(frozen=True, slots=True)
class RunWorth:
    """What a model was measured to be worth."""

    model: str
    figure: str
    value: float
    champion: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """Over how many cells places are told."""

    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Overview:
    """A project at a glance; `left` parts of its runs are still to be added up.

    `columns` are what a table of boards says of its pictures, each with its values.
    """

    project: str
    task: str
    run: int
    left: int
    groups: Sequence[str]
    days: Sequence[str]
    boards: Yield
    by_group: Sequence[NamedYield]
    by_day: Sequence[NamedYield]
    classes: Sequence[StandingClass]
    cells: Sequence[LotClass]
    scores: Sequence[ScoreBin]
    places: Sequence[Spot]
    grid: Grid
    mistaken: Mistaken
    runs: Sequence[NamedRun]
    trend: Sequence[RunYield]
    models: Sequence[RunWorth]
    states: Mapping[str, int]
    columns: Mapping[str, Sequence[str]]


def yielded(passed: int, failed: int, asked: int, said: int) -> Yield:
    """Boards by verdict with the share that passes."""
    judged = passed + failed
    low, high = intervals.wilson(passed, judged) or (None, None)
    share = passed / judged if judged else None
    return Yield(passed, failed, asked, said, judged + asked, share, low, high)
