"""A folder into which pictures arrive, watched by a real worker that is killed on the way."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain import JobState
from backend.jobs import queue
from backend.services import detecting
from backend.storage import warehouse
from tests.workers import running
from tests.workers.running import House


@pytest.fixture
def house(tmp_path: Path, shared_cache: Path) -> Iterator[House]:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "cache").symlink_to(shared_cache)
    with running.house(tmp_path / "home", lease=4.0) as built:
        yield built


def _seen(house: House, run: int) -> dict[str, str]:
    with house.database.read() as session:
        ids = warehouse.seen(session, run)
        return {one.name: one.status for one in warehouse.images(session, run, ids).values()}


def _until_seen(house: House, run: int, count: int, seconds: float = 60.0) -> dict[str, str]:
    end = time.monotonic() + seconds
    while len(seen := _seen(house, run)) < count:
        assert time.monotonic() < end, seen
        time.sleep(0.05)
    return seen


def test_each_arriving_picture_is_looked_at_once_also_after_a_kill(
    house: House, cocoval: Path, weights: Path, tmp_path: Path
) -> None:
    inbox, out = tmp_path / "inbox", tmp_path / "out"
    inbox.mkdir()
    photos = sorted(cocoval.glob("*.jpg"))[:4]
    shutil.copy(photos[0], inbox)
    model = str(weights / "yolo11n_recovered.pt")
    with house.database.write.begin() as session:
        job = detecting.watch(session, None, model, inbox, out=out)
    worker = house.start_worker()
    _until_seen(house, job.id, 1, 120.0)
    half = photos[1].read_bytes()
    (inbox / "late.jpg").write_bytes(half[: len(half) // 2])
    shutil.copy(photos[2], inbox)
    time.sleep(0.5)
    (inbox / "late.jpg").write_bytes(half)
    assert _until_seen(house, job.id, 3, 120.0)["late.jpg"] == "ok"
    worker.kill()
    shutil.copy(photos[3], inbox)
    house.start_worker()
    seen = _until_seen(house, job.id, 4, 240.0)
    assert set(seen.values()) == {"ok"}
    assert len(json.loads((out / f"{photos[3].name}.json").read_text())) > 0
    with house.database.write.begin() as session:
        queue.cancel(session, job.id)
    assert house.until_ended(job.id).state is JobState.CANCELLED
