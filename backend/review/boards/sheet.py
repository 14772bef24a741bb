"""All that is said of a run on one sheet: its yield, its defects, its worst boards, who judged."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import intervals
from backend.domain import Model, Project, Run
from backend.models import registry
from backend.projects import catalogue
from backend.review import blind_repeats, promises, tally, views
from backend.review.blind_repeats import Agreement
from backend.review.boards import verdicts
from backend.review.boards.verdicts import ASK, FAIL, PASS, Ruled, StandingBoard, UnreadPicture
from backend.review.deciding import decisions
from backend.storage import engine, findings
from backend.storage.tables import DecisionRow

WORST = 12
MOST_LISTED = 2000


@dataclass(slots=True)
class Counted:
    """Boards by their verdict."""

    passed: int = 0
    failed: int = 0
    asked: int = 0

    def add(self, verdict: str) -> None:
        """Count one more."""
        self.passed += verdict == PASS
        self.failed += verdict == FAIL
        self.asked += verdict == ASK

    @property
    def boards(self) -> int:
        """How many there are."""
        return self.passed + self.failed + self.asked

    @property
    def share(self) -> float | None:
        """The yield: how many of those that have a verdict pass."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else None

    @property
    def interval(self) -> list[float] | None:
        """Where the yield may lie (95 %, Wilson)."""
        return intervals.wilson(self.passed, self.passed + self.failed)


@dataclass(frozen=True, slots=True)
class ClassLine:
    """How often a class stands on the boards; `so_far` is its share with all before it."""

    name: str
    defects: int
    boards: int
    so_far: float


@dataclass(frozen=True, slots=True)
class AgainstLabels:
    """A run against the labels; `at_most` bounds the share of escapes at 95 %."""

    figures: tally.Figures
    at_most: float | None


@dataclass(frozen=True, slots=True)
class RunSheet:
    """A run as it is told to somebody who was not there."""

    run: Run
    project: Project
    model: Model | None
    ruled: Ruled
    counted: Counted
    lots: dict[str, Counted]
    classes: tuple[ClassLine, ...]
    worst: tuple[StandingBoard, ...]
    failing: tuple[StandingBoard, ...]
    unread: int
    unreadable: tuple[UnreadPicture, ...]
    judges: dict[str, int]
    said: dict[str, int]
    seen: AgainstLabels
    agreement: Agreement


@dataclass(slots=True)
class _Adding:
    """Boards as they are added up."""

    ruled: Ruled
    counted: Counted = field(default_factory=Counted)
    lots: defaultdict[str, Counted] = field(default_factory=lambda: defaultdict(Counted))
    defects: Counter[str] = field(default_factory=Counter)
    boards: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    worst: list[StandingBoard] = field(default_factory=list)
    failing: list[StandingBoard] = field(default_factory=list)

    def add(self, part: Sequence[StandingBoard]) -> None:
        for one in part:
            self._count(one)
        failed = [one for one in part if one.verdict == FAIL]
        self.worst = heapq.nlargest(WORST, [*self.worst, *failed], key=self._badness)
        self.failing += failed[: MOST_LISTED - len(self.failing)]

    def _count(self, board: StandingBoard) -> None:
        self.counted.add(board.verdict)
        self.lots[board.image.group].add(board.verdict)
        self.defects.update(board.by_class)
        self.boards.update(board.by_class.keys())
        if board.said_by:
            self.judges[board.said_by] += 1

    def _badness(self, board: StandingBoard) -> tuple[int, int, float, int]:
        failing = [one for one in board.defects if self.ruled.fails(one.label)]
        severest = max((one.severity for one in failing), default=0)
        surest = max((1.0 if one.score is None else one.score for one in failing), default=0.0)
        return severest, len(failing), surest, -board.image.id

    def classes(self) -> Iterator[ClassLine]:
        """The most frequent first."""
        lines = self.defects.most_common()
        so_far = accumulate(number for _, number in lines)
        for (name, number), sum_ in zip(lines, so_far, strict=True):
            yield ClassLine(name, number, self.boards[name], sum_ / self.defects.total())


def read(session: Session, run_id: int) -> RunSheet:
    """The sheet of a run as its boards stand now."""
    run = findings.get(session, run_id)
    added = _added(verdicts.ruled(session, run_id), verdicts.every(session, run_id))
    unread, first = verdicts.unreadable(session, run_id, MOST_LISTED)
    return RunSheet(
        run,
        catalogue.get(session, views.project_of(session, run_id)),
        registry.get(session, run.model_id) if run.model_id else None,
        added.ruled,
        added.counted,
        dict(sorted(added.lots.items())),
        tuple(added.classes()),
        tuple(added.worst),
        tuple(added.failing),
        unread,
        tuple(first),
        dict(added.judges.most_common()),
        _said(session, run_id),
        _seen(session, run_id),
        blind_repeats.agreement(session, run_id),
    )


def _added(ruled: Ruled, parts: Iterable[list[StandingBoard]]) -> _Adding:
    added = _Adding(ruled)
    for part in parts:
        added.add(part)
    return added


def _said(session: Session, run_id: int) -> dict[str, int]:
    """How many decisions of each person stand, those taken back or said anew left out."""
    seen = select(DecisionRow.image_id).where(DecisionRow.run_id == run_id).distinct()
    said = Counter[str]()
    for part in engine.batches(list(session.scalars(seen)), verdicts.PAGE):
        for stands in decisions.standing(session, part, [run_id]).values():
            said.update(one.author for one in stands.values())
    return dict(sorted(said.items(), key=lambda one: (-one[1], one[0])))


def _seen(session: Session, run_id: int) -> AgainstLabels:
    found = tally.figures(session, run_id)
    truths = found.right + found.escapes
    return AgainstLabels(found, promises.at_most(found.escapes, truths) if truths else None)
