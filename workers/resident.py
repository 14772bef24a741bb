"""The resident: `python -m workers.resident FD`, a child of the worker that answers at once.

It carries out the jobs of the lane INSTANT one after the other, with models kept in memory, where
a process for each job would take longer to start than the answer may take.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from sqlalchemy.exc import SQLAlchemyError

from backend import settings as all_settings
from backend.domain import Job
from backend.errors import LeaseLost
from backend.jobs import claims, holder, journal, kinds
from backend.jobs.lanes import Lane
from backend.storage import engine, files
from workers import handlers, runner, scratch, wire
from workers.context import Context
from workers.handlers.runs.trying import TryOut

log = logging.getLogger(__name__)
# Who has asked for one answer soon asks for another.
EVERY, REST = 0.1, 0.3
LATELY = 60.0


def main(descriptor: int) -> None:
    """Answer until the worker ends."""
    scratch.move_in()
    line = wire.JobEnd(descriptor)
    line.listen()
    settings = all_settings.current()
    database = engine.connect(settings)
    store, trier, me = files.connect(settings), TryOut(), holder.me()

    def answer(job: Job) -> None:
        request = kinds.decode(job.kind, job.request)
        folder = journal.folder(settings.home, job.id)
        context = Context(job, request, database, store, settings, folder)
        look = trier.answer if job.kind == kinds.Try.kind else handlers.find(job.kind).run
        with _alive(database, job, settings.lease_seconds / 4):
            runner.carry_out(database, job, lambda: look(context))

    asked = time.monotonic()
    while not line.stopping.wait(EVERY if time.monotonic() < asked + LATELY else REST):
        try:
            while (job := _next(database, me)) is not None:
                answer(job)
                asked = time.monotonic()
        except SQLAlchemyError as error:
            log.warning("The database does not answer: %s", error)
            line.stopping.wait(1.0)


@contextmanager
def _alive(database: engine.Database, job: Job, every: float) -> Iterator[None]:
    """Renew the lease meanwhile: the first look at a model prepares it, which may take minutes."""
    over = Event()

    def beat() -> None:
        while not over.wait(every):
            with suppress(SQLAlchemyError, LeaseLost), database.write.begin() as session:
                claims.renew(session, job)

    thread = Thread(target=beat, name="heart", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _next(database: engine.Database, me: str) -> Job | None:
    with database.read() as session:
        if not claims.is_waiting(session, Lane.INSTANT):
            return None
    with database.write.begin() as session:
        return claims.claim(session, me, Lane.INSTANT)


if __name__ == "__main__":
    main(int(sys.argv[1]))
