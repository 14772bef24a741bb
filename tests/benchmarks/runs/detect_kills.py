"""A run through Ray while its actors, its process, its worker and its cluster are killed.

Takes minutes, so it is run by hand: `pytest tests/benchmarks/runs/detect_kills.py`.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select

from backend.domain import JobState
from backend.jobs import queue
from backend.models import registry
from backend.runs import detection
from backend.storage.files import Files
from backend.storage.tables import DetectionRow, RunImageRow
from tests.app.commands import finding
from tests.homes import many
from tests.workers import running
from tests.workers.running import House

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

IMAGES = int(os.environ.get("LOUPE_TEST_FAULT_IMAGES", "2000"))
# What is killed, by a part of its command line; the ones that cost an attempt are few, as a job
# that breaks down six times is given up.
KILLS = (
    *("ray::Looker",) * 12,
    *("python -m workers",) * 4,
    "workers.runner",
    "raylet/raylet",
    *("gcs_server",) * 2,
)
PATIENCE = 180.0


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with running.house(tmp_path, lease=5.0) as built:
        yield built


def _project(house: House, count: int) -> int:
    """Boards of which none is known from another, and a champion that takes its time."""
    store = Files(str(house.home / "files"), house.home / "cache")
    project = many.boards(house.database, store, "boards", count, different=count)
    with house.database.write.begin() as session:
        model = registry.add(
            session, project, "yolo", classes=(), snapshot_id=None, parameters={"image_size": 640}
        )
        registry.complete(session, model.id, store.put(finding.WEIGHTS.read_bytes()), {})
    return project


def _ask(house: House, project: int) -> int:
    with house.database.write.begin() as session:
        return detection.ask(session, project, "champion", options={"ray": True}).id


def _written(house: House, run: int) -> int:
    with house.database.read() as session:
        query = select(func.count()).select_from(RunImageRow).filter_by(run_id=run)
        return session.scalar(query) or 0


def _kill_one(house: House, what: str, chance: random.Random) -> bool:
    found = []
    for process in house.processes():
        with suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if what in line and (what != "python -m workers" or line.endswith("-m workers")):
                found.append(process)
    if not found:
        return False
    with suppress(psutil.NoSuchProcess):
        chance.choice(found).send_signal(signal.SIGKILL)
    return True


def _kill_at(house: House, run: int, what: str, written: int, chance: random.Random) -> None:
    """Wait until so many images are written, then for something of that kind to kill."""
    _until(lambda: _written(house, run) >= written)
    _until(lambda: _kill_one(house, what, chance))
    assert not _is_over(house, run)


def test_twenty_kills_lose_nothing_double_nothing_and_leave_nothing(house: House) -> None:
    chance = random.Random(3)
    run = _ask(house, _project(house, IMAGES))
    house.start_worker()
    kills = list(KILLS)
    chance.shuffle(kills)
    for number, what in enumerate(kills):
        _kill_at(house, run, what, IMAGES * number // (len(kills) + 1), chance)
        if what == "python -m workers":
            house.start_worker()
    job = house.until_ended(run, PATIENCE)
    assert job.state is JobState.DONE, job.error
    assert (job.result["images"], job.result["failed"]) == (IMAGES, 0)
    with house.database.read() as session:
        query = select(RunImageRow.name).filter_by(run_id=run)
        assert sorted(session.scalars(query)) == [f"{i:05}" for i in range(IMAGES)]
        found = select(func.count()).select_from(DetectionRow).filter_by(run_id=run)
        assert session.scalar(found) == job.result["detections"]
    house.stop()
    house.until_empty(30.0)


def test_a_cancelled_run_frees_everything_within_seconds(house: House) -> None:
    run = _ask(house, _project(house, IMAGES))
    house.start_worker()
    _until(lambda: _written(house, run) > 0)
    with house.database.write.begin() as session:
        queue.cancel(session, run)
    began = time.monotonic()
    house.until(run, lambda job: job.state is JobState.CANCELLED, 10.0)
    _until(lambda: not any(_is_actor(process) for process in house.processes()))
    assert time.monotonic() - began < 5.0


def _is_actor(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "ray::Looker" in " ".join(process.cmdline())
    return False


def _is_over(house: House, run: int) -> bool:
    return house.get(run).state in (JobState.DONE, JobState.FAILED)


def _until(what: object) -> None:
    assert callable(what)
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)
