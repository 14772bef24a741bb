"""A search while its job goes on: which trial is next, what it tells, and how it ends.

The rows are the truth, so that another process can go on where this one was killed; what is
remembered here can be read again.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from backend import spaces
from backend.domain import Search, Trial, TrialState
from backend.errors import Enough
from backend.models import searches, trials
from backend.models.search import halving
from workers.context import Context
from workers.data import LaidOut
from workers.tuning import nested

TRIED = 0.9
HEAR = 0.2  # seconds between two looks at what people have said of a search
STOPPED = "A person stopped the search."
STOPPED_TRIAL = "A person stopped it."
Curve = list[tuple[int, float]]
Written = TypeVar("Written")


@dataclass(slots=True)
class Study:
    """The trials of a search, as the job that carries them out knows them."""

    context: Context
    search: Search
    laid_out: LaidOut
    start: Path | None
    device: str
    known: dict[int, Trial] = field(default_factory=dict)
    counted: float = field(default_factory=time.monotonic)

    @property
    def figure(self) -> str:
        """By which figure trials are told apart."""
        return trials.figure(self.search.family)

    def read(self) -> None:
        """Take what the rows say."""
        with self.context.database.read() as session:
            self.search = searches.get(session, self.search.id)
            found = trials.of_search(session, self.search.id)
        self.known = {one.number: one for one in found}

    def next(self, taken: Collection[int] = ()) -> Trial | None:
        """The trial to carry out: one that was interrupted, else a new one, None at the end.

        Those that are `taken` are under way.
        """
        for one in self.known.values():
            if one.state is TrialState.RUNNING and one.number not in taken:
                return one
        # A guess takes long where much is known: nobody's write waits for it.
        guess = trials.values(self.search, list(self.known.values()))
        return self._write(lambda session: self._advance(session, guess))

    def is_over(self) -> bool:
        """Whether nothing is left to be tried, as the rows were read last."""
        if any(one.state is TrialState.RUNNING for one in self.known.values()):
            return False
        if self.search.stopping or (self.known and self._hours_are_over()):
            return True
        return trials.values(self.search, list(self.known.values())) is None

    def check_stopped(self, number: int | None = None) -> None:
        """Raise Enough where a person has stopped the search, or that trial, while it waits."""
        with self.context.database.read() as session:
            self.search = searches.get(session, self.search.id)
            trial = None if number is None else trials.get(session, self.search.id, number)
        if self.search.stopping:
            raise Enough(STOPPED)
        if trial and trial.stopping:
            raise Enough(STOPPED_TRIAL)

    def end_all(self, why: str) -> None:
        """End the trials that were interrupted, and have no place to go on."""
        for one in list(self.known.values()):
            if one.state is TrialState.RUNNING:
                self.end(one, TrialState.STOPPED, error=why)

    def has_waited(self) -> None:
        """What was waited for since it was counted last is no time of the search."""
        self.counted = time.monotonic()

    def begin(self, trial: Trial, device: str = "") -> Trial:
        """A process takes a trial up."""

        def write(session: Session) -> Trial:
            self._count(session)
            begun = trials.begin(session, trial, device or self.device)
            if begun.state is not TrialState.RUNNING:
                nested.end(session, self.search, begun, begun.state)
            return begun

        begun = self._keep(write)
        if begun.state is not TrialState.RUNNING:
            self.sweep()
            self.context.log(self._sentence(begun))
        return begun

    def let_go(self, trial: Trial) -> None:
        """The trial is interrupted on purpose."""
        self._write(lambda session: trials.let_go(session, trial))

    def told(self, trial: Trial, epoch: int, figures: Mapping[str, float], seconds: float) -> Trial:
        """Keep an epoch's figures; what is no number cannot be kept."""
        finite = {name: value for name, value in figures.items() if math.isfinite(value)}

        def write(session: Session) -> Trial:
            self._count(session)
            nested.tell(session, self.search, trial, finite, epoch)
            return trials.epoch(session, trial, epoch, finite, seconds)

        return self._keep(write)

    def end(self, trial: Trial, state: TrialState, seconds: float = 0.0, **how: Any) -> Trial:
        """The trial is over, and what it leaves on the disk goes unless it may be needed."""

        def write(session: Session) -> Trial:
            nested.end(session, self.search, trial, state)
            over = trials.end(session, trial, state, seconds=seconds, **how)
            self.context.tell(session, self._sentence(over))
            return over

        ended = self._keep(write)
        self.sweep()
        return ended

    def judge(self, trial: Trial, epochs: int) -> None:
        """Raise Enough where a trial, as it was kept last, has no reason to go on."""
        if trial.stopping:
            raise Enough(STOPPED_TRIAL)
        if self.search.stopping:
            raise Enough(STOPPED)
        if trial.number == 0:
            return
        if self._hours_are_over():
            raise Enough("The hours of the search were over.")
        mine = self.curve(trial)
        if not mine or halving.rung(mine, epochs) is None:
            return
        others = [self.curve(one) for one in self.known.values() if one.number != trial.number]
        if halving.stops(mine, others, epochs):
            raise Enough("It lagged behind the others.")

    def curve(self, trial: Trial) -> Curve:
        """What a trial was worth after each epoch."""
        return [(int(one["epoch"]), one[self.figure]) for one in trial.epochs if self.figure in one]

    def parameters(self, trial: Trial) -> dict[str, Any]:
        """What it is trained with."""
        return searches.parameters(self.search, trial)

    def folder(self, number: int) -> Path:
        """Where a trial has its checkpoints."""
        return self.context.folder / "trials" / str(number)

    def sweep(self) -> None:
        """Remove what the trials have left that lost."""
        best = searches.best(list(self.known.values()))
        kept = {0, best.number if best else 0}
        kept |= {one.number for one in self.known.values() if one.state is TrialState.RUNNING}
        names = {str(number) for number in kept}
        for folder in self.folder(0).parent.glob("*"):
            if folder.is_dir() and folder.name not in names:
                shutil.rmtree(folder)

    def share(self, part: float) -> float:
        """How far the search is while a trial has come so far."""
        ended = sum(one.state is not TrialState.RUNNING for one in self.known.values())
        by_trials = (ended + part) / self.search.trials if self.search.trials else 0.0
        by_hours = self._seconds() / (self.search.hours * 3600) if self.search.hours else 0.0
        return min(1.0, max(by_trials, by_hours)) * TRIED

    def title(self, trial: Trial) -> str:
        """What a trial is called."""
        of = f" ({trial.number + 1} of {self.search.trials})" if self.search.trials else ""
        return f"Trial {trial.number}{of}"

    def _advance(self, session: Session, guess: Mapping[str, float] | None) -> Trial | None:
        """A new trial, unless a person or the hours say no; the defaults are always tried."""
        self._count(session)
        if self.search.stopping or (self.known and self._hours_are_over()):
            return None
        return self._draw(session, guess)

    def _draw(self, session: Session, guess: Mapping[str, float] | None) -> Trial | None:
        drawn = trials.draw(session, self.search, list(self.known.values()), guess)
        if drawn is not None:
            self.known[drawn.number] = drawn
            nested.begin(session, self.search, drawn, self.parameters(drawn))
        return drawn

    def _count(self, session: Session) -> None:
        """Count what was searched, and hear what people have said meanwhile.

        Where trials are short, not with each of their steps.
        """
        now = time.monotonic()
        if now - self.counted < HEAR:
            return
        self.search = searches.count(session, self.search.id, now - self.counted)
        self.counted = now

    def _seconds(self) -> float:
        return self.search.seconds + time.monotonic() - self.counted

    def _hours_are_over(self) -> bool:
        return 0 < self.search.hours * 3600 <= self._seconds()

    def _keep(self, write: Callable[[Session], Trial]) -> Trial:
        found = self._write(write)
        self.known[found.number] = found
        return found

    def _write(self, write: Callable[[Session], Written]) -> Written:
        with self.context.database.write.begin() as session:
            self.context.fence(session)
            return write(session)

    def _sentence(self, trial: Trial) -> str:
        tried = spaces.told(trial.parameters) or searches.DEFAULTS
        worth = f" {self.figure} {trial.value:.3f}." if trial.value is not None else ""
        why = f" {trial.error}" if trial.error else ""
        return f"{self.title(trial)} with {tried} is {trial.state}.{worth}{why}"
