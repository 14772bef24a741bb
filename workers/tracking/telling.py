"""Tells the store what is new of each run, from the database, as often as it takes."""

from __future__ import annotations

import logging
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from backend.domain import JobEvent, JobState
from backend.errors import LoupeError
from backend.jobs import holder, journal
from backend.models import registry, tracked
from backend.models.tracked import Tracked
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from workers.tracking import facts, pyfunc, store
from workers.tracking.store import Store

log = logging.getLogger(__name__)
LOOK = 1.0
IDLE = 60.0
LONGEST_REST = 60.0
AWAY = 3  # runs that fail one after the other: then it is the store, and no run of its own
LOGIN = re.compile(r"//[^\s/]+@")


@dataclass(slots=True)
class Rest:
    """How long a run that failed is left alone, while others are told."""

    seconds: float
    until: float


@dataclass(slots=True)
class Teller:
    """One process that tells; where the store is away, it waits longer each time."""

    database: Database
    settings: Settings
    files: Files
    look: float = LOOK
    idle: float = IDLE
    me: str = field(default_factory=holder.me)
    _store: Store | None = None
    _rests: dict[int, Rest] = field(default_factory=dict)

    def run(self) -> None:
        """Tell until there was no news for a while."""
        news, rest = time.monotonic(), self.look
        while (waiting := self._waiting()) or time.monotonic() - news < self.idle:
            if waiting:
                rest = self.look if self._tell_all(waiting) else min(rest * 2, LONGEST_REST)
                news = time.monotonic()
            time.sleep(rest)

    def _waiting(self) -> list[int]:
        with self.database.read() as session:
            return tracked.waiting(session, self.me)

    def _tell_all(self, waiting: list[int]) -> bool:
        """Whether the store has taken what it was told; what fails alone holds up no other run."""
        failed, taken, now = 0, False, time.monotonic()
        for id in waiting:
            if id in self._rests and now < self._rests[id].until:
                continue
            if self._is_told(id):
                failed, taken = 0, True
            else:
                failed += 1
            if failed == AWAY:
                return False
        return taken

    def _is_told(self, id: int) -> bool:
        """Whether a run was told of; one that failed rests, longer each time."""
        from mlflow import exceptions

        try:
            self._tell(id)
        except (exceptions.MlflowException, LoupeError, OSError) as error:
            log.warning("Run %d: %s", id, said(error))
            for_good = store.is_for_good(error) or isinstance(error, LoupeError)
            self._complain(id, error, for_good)
            if not for_good:
                before = self._rests.get(id, Rest(self.look / 2, 0.0)).seconds
                rest = min(before * 2, LONGEST_REST)
                self._rests[id] = Rest(rest, time.monotonic() + rest)
            return for_good
        self._rests.pop(id, None)
        return True

    def _tell(self, id: int) -> None:
        """All that is new of one run."""
        with self.database.write.begin() as session:
            run = tracked.take(session, id, self.me, tracked.place(store.place(self.settings)))
        if run is None or self._comes_before(run):
            return
        told = self._opened(run)
        while news := self._news(told):
            self._opened_store().measured(told.run, facts.curves(news))
            if about := facts.about(news):
                self._opened_store().say(told.run, {}, about)
            told = self._keep(told, told=news[-1].seq)
        if run.state is JobState.DONE and run.model_id is not None and not told.version:
            told = self._finished(told)
        if told.told_state != run.state:
            self._opened_store().conclude(told.run, run.state, run.ended)
        if told.version and told.crowned != run.champion:
            self._opened_store().crown(told.registered, told.version, run.champion)
            told = self._keep(told, crowned=run.champion)
        self._keep(told, told_state=run.state, error="")

    def _news(self, told: Tracked) -> Sequence[JobEvent]:
        with self.database.read() as session:
            return tracked.news(session, told)

    def _comes_before(self, run: Tracked) -> bool:
        """Whether the run is to be nested under one that is not opened yet, nor given up."""
        if run.run or not run.parent_id:
            return False
        with self.database.read() as session:
            above = tracked.get(session, run.parent_id)
        return not above.run and above.told_state != above.state

    def _opened(self, run: Tracked) -> Tracked:
        """The run with its name in the store, its parameters and what it learns from."""
        if run.run:
            return run
        with self.database.read() as session:
            project = catalogue.get(session, run.project_id).name
            above = tracked.get(session, run.parent_id).run if run.parent_id else ""
        place = self._opened_store()
        name = place.open_run(project, run.mark, run.name, run.began, above)
        with self.database.read() as session:
            place.say(name, facts.parameters(session, run), facts.tags(session, run))
            read = facts.snapshot(session, run)
        if read is not None:
            place.learns_from(name, *read)
        return self._keep(run, run=name)

    def _finished(self, run: Tracked) -> Tracked:
        """What came of a training: its figures, curves, confusion and the model itself."""
        assert run.model_id is not None
        with self.database.read() as session:
            details = registry.details(session, run.model_id)
            events = journal.read(session, run.job_id or 0, limit=100_000)
            project = catalogue.get(session, run.project_id).name
        place = self._opened_store()
        place.measured(run.run, facts.held_out(details, events))
        with tempfile.TemporaryDirectory() as made:
            facts.write(Path(made), details, events)
            weights = self.files.local_path(details.model.weights)
            pyfunc.save(Path(made) / "model", weights, details.model)
            place.keep(run.run, Path(made))
        name, version = place.register(project, run.run, f"{project} {details.model.name}")
        place.say(run.run, {}, facts.ended(details, run))
        return self._keep(run, registered=name, version=version)

    def _keep(self, known: Tracked, **values: Any) -> Tracked:
        with self.database.write.begin() as session:
            tracked.told(session, known.id, **values)
            return tracked.get(session, known.id)

    def _opened_store(self) -> Store:
        if self._store is None:
            self._store = Store(self.settings)
        return self._store

    def _complain(self, id: int, error: Exception, for_good: bool) -> None:
        """Say it once in the job's story; what is refused for good is not told again."""
        first = said(error)
        with self.database.write.begin() as session:
            run = tracked.get(session, id)
            if not run.error and run.job_id is not None:
                again = "" if for_good else " It is told as soon as it answers."
                journal.write(session, run.job_id, f"mlflow does not take the run: {first}.{again}")
            values = dict(_given_up(session, run)) if for_good else {}
            tracked.told(session, id, error=first, **values)


def said(error: Exception) -> str:
    """Its first line; nobody reads in it with which password a store is asked."""
    first, *_ = str(error).strip().splitlines() or [type(error).__name__]
    return LOGIN.sub("//…@", first)[:300]


def _given_up(session: Session, run: Tracked) -> Iterator[tuple[str, Any]]:
    """Nothing more is told until something else happens."""
    last = tracked.news(session, run)
    yield "told", last[-1].seq if last else run.told
    yield "told_state", run.state
    if run.version:
        yield "crowned", run.champion
