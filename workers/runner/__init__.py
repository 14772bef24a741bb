"""The process of one job: `python -m workers.runner FD`; may ask jobs and the handlers.

It is a child of the worker. A job of its own process cannot starve the worker's heartbeat, leak
into the next job, or outlive a cancel.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend import settings as all_settings
from backend.domain import Job
from backend.errors import Cancelled, LeaseLost, LoupeError, Refused, Unavailable
from backend.jobs import claims, journal, kinds, queue
from backend.settings import Settings
from backend.storage import engine, files, outages
from workers import cluster, handlers, scratch, wire
from workers.context import Context

log = logging.getLogger(__name__)
AGAIN = 1.0


def main(descriptor: int) -> None:
    """Wait for the job's number, carry it out, and keep how it ended."""
    line = wire.JobEnd(descriptor)
    settings = all_settings.current()
    database = engine.connect(settings)
    number = int(line.first()["job"])
    wire.write_to(journal.log_path(settings.home, number))
    with database.read() as session:
        job = queue.get(session, number)
    carry_out(database, job, lambda: _run(line, settings, database, job))
    database.close()


def _run(
    line: wire.JobEnd, settings: Settings, database: engine.Database, job: Job
) -> Mapping[str, Any]:
    scratch.move_in()
    request = kinds.decode(job.kind, job.request)
    folder = journal.folder(settings.home, job.id)
    folder.mkdir(parents=True, exist_ok=True)
    store = files.connect(settings)
    context = Context(job, request, database, store, settings, folder, line.stopping)
    context.ask_cluster = lambda: _cluster(line, context)
    return handlers.find(job.kind).run(context)


def carry_out(database: engine.Database, job: Job, run: Callable[[], Mapping[str, Any]]) -> None:
    """The edge of the job loop: every way a job can end is told in a sentence."""
    try:
        result = run()
        with database.write.begin() as session:
            claims.finish(session, job, result)
    except (Cancelled, LeaseLost) as ended:
        log.info("%s", ended)
    except Unavailable as error:
        _forgive(database, job, str(error))
    except LoupeError as error:
        _fail(database, job, str(error))
    except (OSError, SQLAlchemyError) as error:
        log.exception("Job %d stopped.", job.id)
        _give_up(database, job, error)
    except Exception as error:
        log.exception("Job %d stopped.", job.id)
        if _is_the_clusters(error):
            _forgive(database, job, "A part of the Ray cluster broke down.")
        else:
            _fail(database, job, _unexpected(error))


def _give_up(database: engine.Database, job: Job, error: Exception) -> None:
    """A full disk waits for a person to make room; a database that is away comes back."""
    told = outages.sentence(error)
    if told and not outages.is_full(error):
        _forgive(database, job, told)
    else:
        _fail(database, job, told or _unexpected(error))


def _forgive(database: engine.Database, job: Job, reason: str) -> None:
    _write(database, lambda session: claims.forgive(session, job, reason))


def _fail(database: engine.Database, job: Job, reason: str) -> None:
    _write(database, lambda session: claims.fail(session, job, reason))


def _write(database: engine.Database, end: Callable[[Session], object]) -> None:
    """Keep how the job ended, as soon as the database takes it; whoever cannot wait kills us."""
    while True:
        try:
            with database.write.begin() as session:
                end(session)
                return
        except LeaseLost as lost:
            log.info("%s", lost)
            return
        except SQLAlchemyError as error:
            if not outages.sentence(error):
                raise
            log.warning("%s", outages.sentence(error))
            time.sleep(AGAIN)


def _is_the_clusters(error: Exception) -> bool:
    """Whether Ray itself failed: with an error of its own, or because it stands no more.

    A RayTaskError carries what a task raised; on a dying cluster that may be anything.
    """
    own = type(error).__module__ == "ray.exceptions"
    return (own and not type(error).__name__.startswith("RayTaskError")) or not cluster.stands()


def _unexpected(error: Exception) -> str:
    text = str(error).strip().splitlines()
    first = f": {text[0][:300]}" if text else ""
    return f"It stopped unexpectedly with {type(error).__name__}{first}. The log tells more."


def _cluster(line: wire.JobEnd, context: Context) -> Mapping[str, str]:
    """The worker keeps the cluster, so that it is warm for the next job."""
    answer: Mapping[str, Any] = line.ask({"want": "cluster"}, context.check)
    if answer.get("error"):
        raise (Refused if answer.get("for_good") else Unavailable)(str(answer["error"]))
    return answer
