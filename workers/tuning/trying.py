"""One trial: a training of its own by the family's own function, whose epochs are told as rows."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backend.domain import Split, Trial, TrialState
from backend.errors import Cancelled, Enough, LeaseLost
from workers.evaluation import appraisal
from workers.families import base
from workers.families.base import Parameters, Reporter, Trained
from workers.training import basics
from workers.tuning import errands
from workers.tuning.study import Study

WEIGHTS = "weights.txt"
ASK = 2.0  # seconds between two looks at what a person has said meanwhile


@dataclass(slots=True)
class TrialReporter:
    """The reporter of one trial: an epoch is a row's figures, and may be the last one."""

    study: Study
    trial: Trial
    since: float = field(default_factory=time.monotonic)

    def progress(self, fraction: float, message: str) -> None:
        """How far the search is, with what the trial does."""
        title = self.study.title(self.trial)
        self.study.context.progress(self.study.share(fraction), f"{title}: {message}")

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Keep the epoch; raises Enough where the trial has no reason to go on."""
        if not math.isfinite(figures.get("loss", 0.0)):
            raise basics.diverged(epoch - 1)
        self.trial = self.study.told(self.trial, epoch, figures, self.lap())
        if epoch < epochs:
            self.study.judge(self.trial, epochs)

    def log(self, text: str) -> None:
        """What a single trial has to say is too much for the story of a search."""

    def lap(self) -> float:
        """The seconds since it was asked last."""
        before, self.since = self.since, time.monotonic()
        return self.since - before


@dataclass(slots=True)
class Again(TrialReporter):
    """The reporter of a trial that is trained once more: its epochs have been told."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """It is in the rows."""


@dataclass(slots=True)
class Listening:
    """A reporter that hears a person also where a trial does not move, as it waits for a place."""

    told: TrialReporter
    fraction: float = -1.0
    asked: float = field(default_factory=time.monotonic)

    def progress(self, fraction: float, message: str) -> None:
        """Who moves is asked after its epoch."""
        self.told.progress(fraction, message)
        stands, self.fraction = fraction == self.fraction, fraction
        if stands and time.monotonic() - self.asked > ASK:
            self.asked = time.monotonic()
            self.told.study.check_stopped(self.told.trial.number)

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Keep the epoch."""
        self.told.epoch(epoch, epochs, figures)

    def log(self, text: str) -> None:
        """For nobody."""
        self.told.log(text)


def carry_out(study: Study, trial: Trial) -> None:
    """Train; however a trial ends, the search goes on, unless the job itself must end."""
    begun = study.begin(trial)
    if begun.state is not TrialState.RUNNING:
        return
    reporter = TrialReporter(study, begun)
    try:
        study.judge(begun, int(study.parameters(begun).get("epochs", 1)))
        done(study, reporter, train(study, begun, Listening(reporter)))
    except (Cancelled, LeaseLost) as why:
        if isinstance(why, Enough):
            ended(study, reporter, why)
            return
        if isinstance(why, Cancelled):
            study.let_go(begun)
        raise
    except errands.FAILURES as error:
        ended(study, reporter, error)


def done(study: Study, reporter: TrialReporter, trained: Trained) -> None:
    """A trial has come to its end: beside its checkpoints stands which file the weights are."""
    (trained.weights.parent / WEIGHTS).write_text(trained.weights.name)
    value = _value(study, reporter, trained)
    study.end(reporter.trial, TrialState.DONE, reporter.lap(), value=value)


def ended(study: Study, reporter: TrialReporter, why: Exception) -> None:
    """A trial has shown enough, or has failed."""
    state = TrialState.STOPPED if isinstance(why, Enough) else TrialState.FAILED
    error = str(why) if isinstance(why, Enough) else errands.reason(why)
    study.end(reporter.trial, state, reporter.lap(), error=error)


def train(study: Study, trial: Trial, reporter: Reporter) -> Trained:
    """Train, or go on."""
    folder = study.folder(trial.number)
    folder.mkdir(parents=True, exist_ok=True)
    family = base.implementation(study.search.family)
    given = Parameters(**study.parameters(trial))
    return family.train(study.laid_out.set, study.start, given, reporter, folder)


def weights(study: Study, trial: Trial) -> Path | None:
    """The weights that a trial has left, if they are still there."""
    folder = study.folder(trial.number)
    named = folder / WEIGHTS
    path = folder / named.read_text() if named.is_file() else folder
    if path.is_file():
        return path
    files = study.context.files
    return files.local_path(trial.weights) if trial.weights else None


def _value(study: Study, reporter: TrialReporter, trained: Trained) -> float:
    """What the kept weights are worth on the validation images."""
    known = trained.figures.get(study.figure)
    if known is not None and study.figure in _last(reporter.trial):
        return float(known)
    data = study.laid_out.set
    examples, classes = data.of(Split.VAL), data.classes
    seen = appraisal.look(
        study.search.family, trained.weights, examples, classes, reporter.progress, classes
    )
    found = appraisal.report(study.search.family, seen, classes)[study.figure]
    figures = {**_last(reporter.trial), study.figure: float(found or 0.0)}
    epoch = int(figures.pop("epoch", 1))
    reporter.trial = study.told(reporter.trial, epoch, figures, reporter.lap())
    return float(found or 0.0)


def _last(trial: Trial) -> dict[str, float]:
    return dict(trial.epochs[-1]) if trial.epochs else {}
