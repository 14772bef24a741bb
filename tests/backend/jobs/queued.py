"""Jobs as tests put, take and end them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from backend.domain import Job, JobState
from backend.errors import Busy
from backend.jobs import claims, journal, kinds, queue
from backend.jobs.lanes import Lane
from backend.storage.engine import Database

ANN = "machine-a:1:1"
BOB = "machine-b:2:2"
A_TRY = kinds.Try(None, "golden", path="board.png")


def evaluation(model: int = 1) -> kinds.Evaluate:
    return kinds.Evaluate(project_id=None, model_id=model)


def training() -> kinds.Train:
    return kinds.Train(project_id=None, model_id=1, snapshot_id=1, family="golden")


def put(database: Database, request: kinds.Request, **how: object) -> Job:
    with database.write.begin() as session:
        return queue.enqueue(session, request, **how)  # type: ignore[arg-type]


def take(database: Database, worker: str = ANN, lane: Lane = Lane.SHORT) -> Job | None:
    with database.write.begin() as session:
        return claims.claim(session, worker, lane)


def taken(database: Database, worker: str = ANN, lane: Lane = Lane.SHORT) -> Job:
    job = take(database, worker, lane)
    assert job is not None
    return job


def now_of(database: Database, job: Job) -> Job:
    with database.read() as session:
        return queue.get(session, job.id)


def texts(database: Database, job: Job) -> list[str]:
    with database.read() as session:
        return [event.text for event in journal.read(session, job.id)]


def ended(database: Database, end: str) -> Job:
    put(database, evaluation())
    held = taken(database)
    with database.write.begin() as session:
        if end == "done":
            claims.finish(session, held, {})
        elif end == "failed":
            claims.fail(session, held, "No pictures.")
        else:
            queue.cancel(session, held.id)
            claims.release(session, held, "Stopped.")
    return replace(held, state=JobState(end))


def held(session: object) -> Job:
    job = claims.claim(session, ANN, Lane.SHORT)  # type: ignore[arg-type]
    assert job is not None
    return job


def say(database: Database, job: Job) -> None:
    with database.write.begin() as session:
        journal.write(session, job.id, "Another")


def at_once(acts: list[Callable[[], object]]) -> list[object]:
    """What each act gives (or raises) when all begin in the same moment."""
    results: list[object] = [None] * len(acts)
    barrier = threading.Barrier(len(acts))

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = acts[number]()
        except Busy as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
