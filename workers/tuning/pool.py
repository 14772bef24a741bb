"""Several trials at once: hands that the job feeds, hears, and answers after each epoch."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self

from backend import families
from backend.domain import Trial, TrialState
from backend.errors import Cancelled, Enough, Refused
from workers.families.base import Parameters
from workers.tuning import errands, trying
from workers.tuning.errands import Errand
from workers.tuning.hands import Hand, Hands, Lost
from workers.tuning.study import Study
from workers.tuning.trying import TrialReporter

AGAIN = 5.0  # seconds, after which we see whether somebody has allowed more trials


@dataclass(slots=True)
class Occupied:
    """The trial that a hand carries out, and why it was told to end it, if it was."""

    reporter: TrialReporter
    why: Enough | Refused | None = None


class TrialPool:
    """The hands of a search; `with` it."""

    def __init__(self, study: Study, hands: Hands) -> None:
        self.study, self.hands = study, hands
        self.busy: dict[Hand, Occupied] = {}
        self.ask_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hands.close()

    def run(self) -> None:
        """Carry out all trials that there are, as many at once as there are hands."""
        try:
            while True:
                over = self._feed()
                if over and not self.busy:
                    return
                for hand, said in self.hands.heard():
                    self._take(hand, said)
                self.study.context.check()
        except Cancelled:
            for one in self.busy.values():
                self.study.let_go(one.reporter.trial)
            raise

    def _feed(self) -> bool:
        """Give every free hand a trial; tells whether none is left that could be given."""
        for hand in list(self.hands.ready()):
            while hand not in self.busy:
                if time.monotonic() < self.ask_at:
                    return True
                trial = self.study.next({one.reporter.trial.number for one in self.busy.values()})
                if trial is None:
                    self.ask_at = time.monotonic() + AGAIN
                    return True
                if not self._give(hand, trial):
                    break
        return False

    def _give(self, hand: Hand, trial: Trial) -> bool:
        """Whether the hand still lives; a trial that has no reason to go on ends at once."""
        begun = self.study.begin(trial, hand.name)
        if begun.state is not TrialState.RUNNING:
            return True
        reporter, given = TrialReporter(self.study, begun), self.study.parameters(begun)
        try:
            self.study.judge(begun, int(given.get("epochs", 1)))
        except Enough as enough:
            trying.ended(self.study, reporter, enough)
            return True
        try:
            hand.give(self._errand(begun, given))
        except Lost:
            self.hands.replace(hand)
            return False
        self.busy[hand] = Occupied(reporter)
        return True

    def _errand(self, trial: Trial, given: dict[str, Any]) -> Errand:
        folder = self.study.folder(trial.number)
        folder.mkdir(parents=True, exist_ok=True)
        module = families.find(self.study.search.family).module
        data, start = self.study.laid_out.set, self.study.start
        return Errand(module, data, start, Parameters(**given), folder)

    def _take(self, hand: Hand, said: tuple[Any, ...] | None) -> None:
        """What a hand says; the trial of one that has died begins again."""
        one = self.busy.get(hand)
        if said is None:
            self.busy.pop(hand, None)
            self.ask_at = 0.0
        elif one is not None:
            self._heard(hand, one, *said)

    def _heard(self, hand: Hand, one: Occupied, kind: str, *content: Any) -> None:
        if kind == "progress":
            one.reporter.progress(*content)
        elif kind == "epoch":
            hand.say(_judged(one, *content))
        elif kind == "broken":
            raise content[0]
        else:
            self._end(hand, one, kind, *content)

    def _end(self, hand: Hand, one: Occupied, kind: str, *content: Any) -> None:
        del self.busy[hand]
        self.ask_at = 0.0
        if kind == "done":
            trying.done(self.study, one.reporter, content[0])
        else:
            trying.ended(self.study, one.reporter, one.why or Refused(*content))


def _judged(one: Occupied, *told: Any) -> str:
    """Keep an epoch; why it was the last one, if it was."""
    try:
        one.reporter.epoch(*told)
    except (Enough, Refused) as why:
        one.why = why
        return str(why)
    return errands.GO_ON
