"""The process of one job: `python -m workers.runner FD`, a child of the worker.

A job of its own process cannot starve the worker's heartbeat, leak into the next job, or
outlive a cancel.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.exc import OperationalError

from backend import settings as all_settings
from backend.domain import Job
from backend.errors import Cancelled, LeaseLost, LoupeError, Refused, Unavailable
from backend.jobs import holding, journal, kinds, queue
from backend.settings import Settings
from backend.storage import engine, files
from workers import cluster, handlers, scratch, wire
from workers.context import Context

log = logging.getLogger(__name__)
STORAGE_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(descriptor: int) -> None:
    """Wait for the job's number, carry it out, and keep how it ended."""
    scratch.move_in()
    line = wire.Child(descriptor)
    settings = all_settings.current()
    database = engine.connect(settings)
    number = int(line.first()["job"])
    wire.write_to(journal.log_path(settings.home, number))
    with database.read() as session:
        job = queue.get(session, number)
    carry_out(database, job, lambda: _run(line, settings, database, job))
    database.close()


def _run(
    line: wire.Child, settings: Settings, database: engine.Database, job: Job
) -> Mapping[str, Any]:
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
            holding.finish(session, job, result)
    except (Cancelled, LeaseLost) as ended:
        log.info("%s", ended)
    except Unavailable as error:
        with database.write.begin() as session:
            holding.forgive(session, job, str(error))
    except LoupeError as error:
        _fail(database, job, str(error))
    except (OSError, OperationalError) as error:
        log.exception("Job %d stopped.", job.id)
        _fail(database, job, _plain(error))
    except Exception as error:
        log.exception("Job %d stopped.", job.id)
        if _is_the_clusters(error):
            with database.write.begin() as session:
                holding.forgive(session, job, "A part of the Ray cluster broke down.")
        else:
            _fail(database, job, _unexpected(error))


def _fail(database: engine.Database, job: Job, reason: str) -> None:
    with database.write.begin() as session:
        holding.fail(session, job, reason)


def _plain(error: OSError | OperationalError) -> str:
    full = isinstance(error, OSError) and error.errno in STORAGE_FULL
    if full or "disk is full" in str(error):
        name = getattr(error, "filename", None)
        where = f" (writing {name})" if name else ""
        return f"The disk is full{where}. Make room and try the job again; nothing saved is lost."
    return _unexpected(error)


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


def _cluster(line: wire.Child, context: Context) -> Mapping[str, str]:
    """The worker keeps the cluster, so that it is warm for the next job."""
    answer: Mapping[str, Any] = line.ask({"want": "cluster"}, context.check)
    if answer.get("error"):
        raise (Refused if answer.get("for_good") else Unavailable)(str(answer["error"]))
    return answer
