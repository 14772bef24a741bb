"""Follow a job to its end, with a worker of our own where none is alive."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext

from app import terminal, worker_process
from app.commands.rooms import Rooms
from backend.domain import FINAL, Job, JobState
from backend.errors import LoupeError, Refused
from backend.jobs import kinds, presence, queue

EVERY = 0.4


def follow(at: Rooms, job: Job, quiet: bool) -> Job:
    """Wait until the job is done; a job that fails is an error with its reason."""
    title = kinds.find(job.kind).title
    with _worker(at), terminal.share(f"{title} (job {job.id})", quiet) as told:
        while job.state not in FINAL:
            time.sleep(EVERY)
            with at.database.read.begin() as session:
                job = queue.get(session, job.id)
            told(job.progress, job.message)
            if job.state is JobState.PAUSED:
                raise Refused(f"Job {job.id} was paused; the Jobs page resumes it.")
    if job.state is JobState.DONE:
        return job
    reason = job.error or job.message or "the log says more"
    raise LoupeError(f"Job {job.id} {job.state.value}: {reason}")


def _worker(at: Rooms) -> AbstractContextManager[object]:
    with at.database.read.begin() as session:
        alive = presence.living(session)
    return nullcontext() if alive else worker_process.beside()
