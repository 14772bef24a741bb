"""What browsers have sent or fetched does not stay for ever."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import update

from backend.jobs import claims, kinds, queue
from backend.jobs.lanes import Lane
from backend.settings import Settings
from backend.storage import engine
from backend.storage.engine import Database
from backend.storage.tables import JobRow
from backend.storage.types import now
from tests.workers import running
from workers import leftovers

DAY = 24 * 3600.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, database_url=SecretStr(""))


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    made = engine.connect(settings)
    engine.create_tables(made)
    yield made
    made.close()


def _aged(path: Path, days: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    os.utime(path.parent, (then, then))
    return path


def _put(database: Database, request: kinds.Request, ended: float | None = None) -> int:
    """A job; one that has ended did so that many days ago."""
    with database.write.begin() as session:
        id = queue.enqueue(session, request).id
        if ended is not None:
            job = claims.claim(session, "test", Lane.SHORT)
            assert job is not None
            claims.finish(session, job, {})
            finished = now() - timedelta(days=ended)
            session.execute(update(JobRow).where(JobRow.id == id).values(finished=finished))
        return id


def test_an_export_goes_a_week_after_its_job(settings: Settings, database: Database) -> None:
    export = kinds.Export(None, "yolo")
    old, young = _put(database, export, ended=8), _put(database, export, ended=6)
    running = _put(database, export)
    for id in (old, young, running, 99):
        _aged(settings.exports / f"{id}.zip", 9)
    leftovers.clear(database, settings)
    left = {path.name for path in settings.exports.iterdir()}
    assert left == {f"{young}.zip", f"{running}.zip"}


def test_an_upload_goes_after_two_days_unless_a_job_waits_for_it(
    settings: Settings, database: Database
) -> None:
    for token, days in (("asked", 3), ("done", 3), ("abandoned", 3), ("new", 1)):
        _aged(settings.uploads / token / "a.zip", days)
    _put(database, kinds.Import(None, str(settings.uploads / "done")), ended=3)
    _put(database, kinds.Import(None, str(settings.uploads / "asked" / "a.zip")))
    leftovers.clear(database, settings)
    assert {path.name for path in settings.uploads.iterdir()} == {"asked", "new"}


def test_an_upload_that_still_grows_stays(settings: Settings, database: Database) -> None:
    _aged(settings.uploads / "token" / "lot 7" / "a.png", 3)
    _aged(settings.uploads / "token" / "lot 7" / "b.png", 1)
    leftovers.clear(database, settings)
    assert len(list((settings.uploads / "token" / "lot 7").iterdir())) == 2


def test_a_try_goes_after_two_days_unless_it_still_waits(
    settings: Settings, database: Database
) -> None:
    asked, forgotten = (_aged(settings.tries / name, 3) for name in ("a.png", "b.png"))
    _put(database, kinds.Try(None, "golden", path=str(asked)))
    leftovers.clear(database, settings)
    assert (asked.exists(), forgotten.exists()) == (True, False)


def test_a_worker_removes_what_was_left(tmp_path: Path) -> None:
    with running.house(tmp_path) as house:
        abandoned = _aged(house.home / "cache" / "uploads" / "token" / "a.zip", 3)
        house.start_worker()
        house.until_true(lambda: not abandoned.parent.exists())
