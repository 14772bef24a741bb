"""A folder into which pictures arrive, watched by a real worker that is killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from backend.domain import Job, JobState
from backend.errors import Cancelled
from backend.jobs import claims, queue
from backend.runs import detection
from backend.storage import findings
from tests.homes import many
from tests.workers import running
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.running import House
from workers.handlers.runs import watch

START = Path(__file__).parents[3] / "assets" / "start_yolo11n.safetensors"


@pytest.fixture
def house(tmp_path: Path, shared_cache: Path) -> Iterator[House]:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "cache").symlink_to(shared_cache)
    with running.house(tmp_path / "home", lease=4.0) as built:
        yield built


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "place", shared_cache)
    yield made
    made.database.close()


def _ask(place: Place, inbox: Path) -> Job:
    with place.database.write.begin() as session:
        return detection.watch(session, None, str(START), inbox)


@contextmanager
def watching(place: Place) -> Iterator[None]:
    """The handler goes on beside the test until it is asked to stop."""
    context = place.context(place.claim())

    def go_on() -> None:
        with suppress(Cancelled):
            watch.run(context)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        context.stopping.set()
        thread.join(60)


def until_said(place: Place, job: int, words: str, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    message = ""
    while words not in message:
        assert time.monotonic() < end, message
        time.sleep(0.05)
        with place.database.read() as session:
            message = queue.get(session, job).message


def test_a_sub_folder_that_is_taken_away_is_skipped(tmp_path: Path) -> None:
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        many.photo(tmp_path / name / "one.png", 1)
    found = watch.arrivals(tmp_path)
    first = Path(next(found).path).parent
    shutil.rmtree(tmp_path / ("right" if first.name == "left" else "left"))
    assert list(found) == []


def test_a_folder_that_is_away_for_a_moment_is_waited_for(place: Place, tmp_path: Path) -> None:
    inbox, away = tmp_path / "inbox", tmp_path / "away"
    inbox.mkdir()
    many.photo(inbox / "one.png", 1)
    job = _ask(place, inbox)
    with watching(place):
        until_said(place, job.id, f"Watching {inbox}: 1 picture since", 120.0)
        inbox.rename(away)
        until_said(place, job.id, f"Waiting for {inbox}, which cannot be read (No such file")
        many.photo(away / "two.png", 2)
        away.rename(inbox)
        until_said(place, job.id, f"Watching {inbox}: 2 pictures")
    assert _seen(place, job.id) == {"one.png": "ok", "two.png": "ok"}


def test_a_name_that_is_not_utf_8_does_not_end_the_watch(place: Place, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    many.photo(inbox / "one.png", 1)
    shutil.copy(inbox / "one.png", os.fsdecode(bytes(inbox) + b"/B\xf6rd.png"))
    job = _ask(place, inbox)
    with watching(place):
        until_said(place, job.id, f"Watching {inbox}: 2 pictures", 120.0)
    assert _seen(place, job.id) == {"one.png": "ok", "B\ufffdrd.png": "unreadable"}


def test_a_watch_that_failed_is_continued_by_the_same_command(place: Place, tmp_path: Path) -> None:
    job = _ask(place, tmp_path)
    with place.database.write.begin() as session:
        claims.fail(session, place.claim(), "The disk was full.")
    assert (again := _ask(place, tmp_path)).id == job.id
    assert again.state is JobState.QUEUED
    with place.database.write.begin() as session:
        queue.cancel(session, job.id)
    assert _ask(place, tmp_path).id != job.id


def _seen(house: House | Place, run: int) -> dict[str, str]:
    with house.database.read() as session:
        ids = findings.seen(session, run)
        return {one.name: one.status for one in findings.images(session, run, ids).values()}


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
        job = detection.watch(session, None, model, inbox, out=out)
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


def test_a_board_that_arrives_is_compared_with_the_golden_that_it_fits(
    place: Place, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    project = place.sample(3)
    with place.database.write.begin() as session:
        board = next(iter(detection.subjects(session, project, {})))
        (inbox / "board.png").write_bytes(place.files.read(board.sha256))
        job = detection.watch(session, project, "golden", inbox)
    with watching(place):
        until_said(place, job.id, f"Watching {inbox}: 1 picture since", 120.0)
    assert _seen(place, job.id) == {"board.png": "ok"}
