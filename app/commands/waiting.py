"""Follow a job to its end, with a worker of our own where none is alive."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Event
from typing import Any

import typer

from app import terminal, worker_process
from app.commands.rooms import Rooms
from backend.domain import FINAL, Job, JobState
from backend.errors import LoupeError, Refused
from backend.jobs import kinds, presence, queue

EVERY = 0.4
INTERRUPTED = 130  # what shells report of a command that Ctrl+C has ended


def follow(at: Rooms, job: Job, quiet: bool) -> Job:
    """Wait until the job is done; a job that fails is an error with its reason."""
    title = kinds.find(job.kind).title
    with _worker(at), terminal.share(f"{title} (job {job.id})", quiet) as told, _ending() as ending:
        while job.state not in FINAL:
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


def to_the_end(at: Rooms, job: Job, quiet: bool) -> Job:
    """As `follow`; Ctrl+C leaves the job to other workers, and says so."""
    try:
        return follow(at, job, quiet)
    except KeyboardInterrupt:
        terminal.warn(
            f"Job {job.id} is not cancelled: a worker that is alive, or the next one, goes on with "
            f"it. Follow it: loupe jobs --watch; end it: loupe cancel {job.id}"
        )
        raise typer.Exit(INTERRUPTED) from None


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


def _worker(at: Rooms) -> AbstractContextManager[object]:
    with at.database.read.begin() as session:
        alive = presence.living(session)
    return nullcontext() if alive else worker_process.beside()
