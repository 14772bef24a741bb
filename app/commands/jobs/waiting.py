"""Follow a job to its end, and see to it all the while that somebody works."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Any

import typer
from sqlalchemy.orm import Session

from app import terminal, worker_process
from app.commands.tools import Tools
from backend.domain import FINAL, Job, JobState
from backend.errors import LoupeError, Refused
from backend.jobs import kinds, outlook, presence, queue

EVERY = 0.4
LOOK = 2.0  # seconds between two looks at who works; a worker may end while we wait
SILENT = 15.0  # seconds after which a worker is not there, even where a lease is shorter
INTERRUPTED = 130  # what shells report of a command that Ctrl+C has ended


def follow(at: Tools, job: Job, quiet: bool) -> Job:
    """Wait until the job is done; a job that fails is an error with its reason."""
    title = kinds.find(job.kind).title
    words = f"{title} (job {job.id})"
    with ExitStack() as own, terminal.share(words, quiet) as told, _ending() as ending:
        overseer = _Overseer(at, own)
        while job.state not in FINAL:
            overseer.see_to(job)
            if ending.wait(EVERY):
                raise KeyboardInterrupt
            with at.database.read.begin() as session:
                job = queue.get(session, job.id)
            told(job.progress, job.message)
            if job.state is JobState.PAUSED:
                raise Refused(f"Job {job.id} was paused; the Jobs page resumes it.")
    if job.state is JobState.DONE:
        return job
    reason = job.error or job.message or "the log says more"
    raise LoupeError(f"Job {job.id} {job.state.value}: {reason}")


def to_the_end(at: Tools, job: Job, quiet: bool) -> Job:
    """As `follow`; Ctrl+C leaves the job to other workers, and says so."""
    try:
        return follow(at, job, quiet)
    except KeyboardInterrupt:
        terminal.warn(
            f"Job {job.id} is not cancelled: a worker that is alive, or the next one, goes on with "
            f"it. Follow it: loupe jobs --watch; end it: loupe cancel {job.id}"
        )
        raise typer.Exit(INTERRUPTED) from None


@dataclass(slots=True)
class _Overseer:
    """Looks who works; where nobody does any more, starts a worker that lasts as long as `own`."""

    at: Tools
    own: ExitStack
    _has_own: bool = False
    _looked: float = 0.0
    _said: str = ""
    # When each worker last showed itself by its clock, and since when we know that by ours.
    _shown: dict[str, tuple[datetime, float]] = field(default_factory=dict)

    def see_to(self, job: Job) -> None:
        """Say what a waiting job waits for, and start a worker where there is none."""
        if time.monotonic() - self._looked < LOOK:
            return
        self._looked = time.monotonic()
        with self.at.database.read.begin() as session:
            works = self._has_own or self._somebody_works(session)
            obstacle = _obstacle(session, job)
        if works:
            self._say(obstacle)
            return
        self._say(f"No worker is alive; one starts for as long as job {job.id} is followed.")
        self.own.enter_context(worker_process.beside())
        self._has_own = True

    def _somebody_works(self, session: Session) -> bool:
        """Whether a worker has shown itself lately; on another machine one may die unseen."""
        now, silent = time.monotonic(), max(self.at.settings.lease_seconds, SILENT)
        before, self._shown = self._shown, {}
        for one in presence.living(session):
            seen, since = before.get(one.name, (None, now))
            self._shown[one.name] = (one.seen, since if seen == one.seen else now)
        return any(now - since < silent for _, since in self._shown.values())

    def _say(self, sentence: str) -> None:
        if sentence and sentence != self._said:
            terminal.warn(sentence)
        self._said = sentence or self._said


def _obstacle(session: Session, job: Job) -> str:
    """What a waiting job waits for, where that is another job."""
    if job.state is not JobState.QUEUED:
        return ""
    place = outlook.outlook_of(session, job)
    number = place.behind if job.after_id is None else job.after_id
    other = queue.get(session, number) if number is not None else None
    if other is None or other.state in FINAL:
        return ""
    before = place.position - 1
    words = f", as {before:,} more before it" if before > 0 else ""
    return (
        f"Job {job.id} waits for job {other.id} ({kinds.find(other.kind).title}), "
        f"which holds the worker{words}."
    )


@contextmanager
def _ending() -> Iterator[Event]:
    """Ctrl+C and a service manager's end, heard between two looks: inside one they may get lost."""
    ending = Event()

    def heard(*_: Any) -> None:
        if ending.is_set():
            raise KeyboardInterrupt
        ending.set()

    before = {each: signal.signal(each, heard) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ending
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
