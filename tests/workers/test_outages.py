"""Jobs whose database fails under them: they wait for it, and say why."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from sqlalchemy import event

from backend.domain import Job, JobState
from backend.errors import Unavailable
from backend.jobs import kinds, queue
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers import runner
from workers.loop import Worker


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A house whose database waits for nobody."""
    made = places.make(tmp_path / "home")
    opened = made.database.engine
    event.listen(opened, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout=50"))
    opened.dispose()
    yield made
    made.database.close()


def claimed(place: Place) -> Job:
    with place.database.write.begin() as session:
        queue.enqueue(session, kinds.Check(project_id=None, steps=1))
    return place.claim()


def seen(place: Place, job: Job) -> Job:
    with place.database.read() as session:
        return queue.get(session, job.id)


def locked(place: Place) -> sqlite3.Connection:
    """Another program's connection, which writes and does not end."""
    path = str(place.database.engine.url.database)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_job_whose_database_is_locked_is_tried_again(place: Place) -> None:
    job = claimed(place)

    def run() -> dict[str, Any]:
        with closing(locked(place)), place.database.write.begin() as session:
            session.connection()
        raise AssertionError("nobody can write")

    runner.carry_out(place.database, job, run)
    after = seen(place, job)
    assert after.state is JobState.QUEUED
    assert after.message.startswith("The database is locked by another program. Nothing that was")


def test_how_a_job_ended_is_kept_as_soon_as_the_database_is_back(place: Place) -> None:
    job = claimed(place)
    other = locked(place)
    Timer(1.0, other.rollback).start()

    def run() -> dict[str, Any]:
        raise Unavailable("The camera is off.")

    runner.carry_out(place.database, job, run)
    other.close()
    assert seen(place, job).message == "The camera is off. It is tried again."


def test_a_worker_takes_nothing_from_a_database_that_was_replaced(place: Place) -> None:
    path = Path(str(place.database.engine.url.database))
    path.with_suffix(".new").write_bytes(path.read_bytes())
    path.with_suffix(".new").replace(path)
    worker = Worker(place.database, place.settings)
    Timer(1.0, worker.stopping.set).start()
    worker.run()
    with pytest.raises(Unavailable, match="was replaced or removed"):
        worker.is_idle()
