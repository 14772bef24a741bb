"""A run that is cancelled, or whose database is locked or full while it writes what it saw."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, select
from sqlalchemy.exc import OperationalError

from backend.domain import JobState
from backend.jobs import claims, queue
from backend.runs import detection
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import DetectionRow, RunImageRow
from tests.homes import many
from tests.workers import running
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers import handlers


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home")
    yield made
    made.database.close()


@contextmanager
def _pragma(database: Database, text: str) -> Iterator[None]:
    """Every connection of the block has that setting."""

    def say(connection: Any, _: object) -> None:
        connection.execute(f"PRAGMA {text}")

    event.listen(database.engine, "connect", say)
    database.engine.dispose()
    yield
    event.remove(database.engine, "connect", say)
    database.engine.dispose()


class Holder(logging.Handler):
    """Locks the database once a run has begun, and lets go when the run complains."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.complained = path, threading.Event()
        self.thread = threading.Thread(target=self.hold)

    def emit(self, record: logging.LogRecord) -> None:
        if "locked" in record.getMessage() and record.name == "workers.engine.ledger":
            self.complained.set()

    def hold(self) -> None:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            while not other.execute("SELECT count(*) FROM run").fetchone()[0]:
                time.sleep(0.01)
            other.execute("BEGIN IMMEDIATE")
            self.complained.wait(60.0)
            other.execute("ROLLBACK")


def test_a_run_whose_database_is_locked_meanwhile_is_written_whole(place: Place) -> None:
    project = place.sample(6)
    holder = Holder(Path(str(place.database.engine.url.database)))
    logging.getLogger("workers").addHandler(holder)
    holder.thread.start()
    with _pragma(place.database, "busy_timeout=300"):
        result = place.detect(project)
    holder.thread.join()
    logging.getLogger("workers").removeHandler(holder)
    assert holder.complained.is_set()
    assert (result["images"], result["failed"]) == (6, 0)
    assert _rows(place) == (6, result["detections"])


@pytest.mark.again
def test_a_run_that_fills_the_database_goes_on_when_there_is_room(place: Place) -> None:
    project = many.boards(place.database, place.files, "boards", 600)
    with place.database.write.begin() as session:
        job = detection.ask(session, project, "golden", options={"ray": False})
    with place.database.read() as session:
        pages = session.connection().exec_driver_sql("PRAGMA page_count").scalar_one()
    claimed = place.claim()
    with (
        _pragma(place.database, f"max_page_count={pages + 45}"),
        pytest.raises(OperationalError, match="full"),
    ):
        handlers.find("detect").run(place.context(claimed))
    assert 0 < _rows(place)[0] < 600
    with place.database.write.begin() as session:
        claims.fail(session, claimed, "The disk is full.")
        queue.retry(session, job.id)
    result = place.carry_out(place.claim())
    assert (result["images"], result["failed"]) == (600, 0)
    assert _rows(place) == (600, result["detections"])


def _rows(place: Place) -> tuple[int, int]:
    with place.database.read() as session:
        images, found = (
            session.scalar(select(func.count()).select_from(table)) or 0
            for table in (RunImageRow, DetectionRow)
        )
    return images, found


def test_a_cancelled_run_frees_its_processes(tmp_path: Path) -> None:
    with running.house(tmp_path) as house:
        store = Files(str(house.home / "files"), house.home / "cache")
        project = many.boards(house.database, store, "boards", 2000)
        with house.database.write.begin() as session:
            run = detection.ask(session, project, "golden", options={"ray": False}).id
        house.start_worker()
        house.until(run, lambda job: "a second" in job.message)
        lookers = [one for one in house.processes() if "forkserver" in " ".join(one.cmdline())]
        assert lookers
        with house.database.write.begin() as session:
            queue.cancel(session, run)
        assert house.until_ended(run).state is JobState.CANCELLED
        house.until_true(lambda: not any(one.is_running() for one in lookers))
