"""Several trials at once: a process a seat, which the job feeds, hears and ends."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any, Self

from backend import apart, families
from backend.domain import Trial, TrialState
from backend.errors import Cancelled, Enough, Refused
from workers.families.base import Parameters
from workers.tuning import errands, trying
from workers.tuning.errands import Errand, Seat
from workers.tuning.study import Study
from workers.tuning.trying import TrialReporter

log = logging.getLogger(__name__)
LOOK_UP = 0.4  # seconds, after which we see whether we should go on
AGAIN = 5.0  # and whether somebody has allowed more trials


@dataclass(eq=False, slots=True)
class Sitting:
    """A process on its seat, our end of its pipe, and the trial that it carries out, if any."""

    seat: Seat
    process: BaseProcess
    pipe: connection.Connection
    reporter: TrialReporter | None = None
    why: Enough | Refused | None = None


class Pool:
    """The processes of a search; `with` it."""

    def __init__(self, study: Study, seats: list[Seat]) -> None:
        self.study = study
        self.sittings = [_start(seat) for seat in seats]
        self.ask_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.sittings:
            one.process.kill()
        for one in self.sittings:
            one.process.join()
            one.pipe.close()

    def run(self) -> None:
        """Carry out all trials that there are, as many at once as there are seats."""
        try:
            while True:
                self._feed()
                if not self._taken():
                    return
                self._hear()
                self.study.context.check()
        except Cancelled:
            for one in self.sittings:
                if one.reporter:
                    self.study.let_go(one.reporter.trial)
            raise

    def _taken(self) -> set[int]:
        return {one.reporter.trial.number for one in self.sittings if one.reporter}

    def _feed(self) -> None:
        """Give every free process a trial."""
        for one in self.sittings:
            while not one.reporter and time.monotonic() >= self.ask_at:
                trial = self.study.next(self._taken())
                if trial is None:
                    self.ask_at = time.monotonic() + AGAIN
                    return
                self._give(one, trial)

    def _give(self, one: Sitting, trial: Trial) -> None:
        begun = self.study.begin(trial, one.seat.name)
        if begun.state is not TrialState.RUNNING:
            return
        reporter, given = TrialReporter(self.study, begun), self.study.parameters(begun)
        try:
            self.study.judge(begun, int(given.get("epochs", 1)))
        except Enough as enough:
            trying.ended(self.study, reporter, enough)
            return
        folder = self.study.folder(begun.number)
        folder.mkdir(parents=True, exist_ok=True)
        module = families.find(self.study.search.family).module
        data, start = self.study.laid_out.set, self.study.start
        try:
            one.pipe.send(Errand(module, data, start, Parameters(**given), folder))
        except OSError:
            self._bury(one)
            return
        one.reporter, one.why = reporter, None

    def _hear(self) -> None:
        """What the processes say; one that has died is replaced, and its trial begins again."""
        pipes: dict[Any, Sitting] = {one.pipe: one for one in self.sittings}
        for pipe in connection.wait(pipes, LOOK_UP):
            one = pipes[pipe]
            try:
                said = one.pipe.recv()
            except (EOFError, OSError):
                self._bury(one)
            else:
                self._take(one, *said)

    def _take(self, one: Sitting, kind: str, *content: Any) -> None:
        if one.reporter is None:
            return
        if kind == "progress":
            one.reporter.progress(*content)
        elif kind == "epoch":
            word = self._judged(one, *content)
            with suppress(OSError):  # who has died meanwhile is buried in the next round
                one.pipe.send(word)
        elif kind == "broken":
            raise content[0]
        else:
            self._end(one, one.reporter, kind, *content)

    def _judged(self, one: Sitting, *told: Any) -> str:
        """Keep an epoch; why it was the last one, if it was."""
        assert one.reporter is not None
        try:
            one.reporter.epoch(*told)
        except (Enough, Refused) as why:
            one.why = why
            return str(why)
        return errands.GO_ON

    def _end(self, one: Sitting, reporter: TrialReporter, kind: str, *content: Any) -> None:
        one.reporter, self.ask_at = None, 0.0
        if kind == "done":
            trying.done(self.study, reporter, content[0])
        else:
            trying.ended(self.study, reporter, one.why or Refused(*content))

    def _bury(self, one: Sitting) -> None:
        one.process.kill()
        one.process.join()
        one.pipe.close()
        log.warning("The process of a trial ended (%s); it is replaced.", one.process.exitcode)
        self.sittings[self.sittings.index(one)] = _start(one.seat)
        self.ask_at = 0.0


def _start(seat: Seat) -> Sitting:
    made = apart.context("spawn")
    ours, theirs = made.Pipe()
    # No daemon: a training may start processes that read its pictures.
    process = made.Process(target=errands.serve, args=(theirs, seat))  # type: ignore[attr-defined]
    process.start()
    theirs.close()
    return Sitting(seat, process, ours)
