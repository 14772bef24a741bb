"""One picture dropped on the page, answered by the resident process of a real worker."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.domain import FINAL, Job, JobState
from backend.runs import detection
from backend.storage import files
from tests.workers import running
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.running import House
from workers.handlers.runs import trying


@pytest.fixture
def house(tmp_path: Path, shared_cache: Path) -> Iterator[House]:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "cache").symlink_to(shared_cache)
    with running.house(tmp_path / "home") as built:
        yield built


def _ask(house: House, project: int | None, model: str, picture: Path) -> Job:
    copy = house.home / f"try-{time.monotonic_ns()}{picture.suffix}"
    shutil.copy(picture, copy)
    with house.database.write.begin() as session:
        job = detection.try_one(session, project, model, copy)
    ended = house.until(job.id, lambda now: now.state in FINAL)
    assert not copy.exists()
    return ended


def test_a_dropped_photo_is_answered_by_the_process_that_knows_the_model(
    house: House, cocoval: Path, weights: Path
) -> None:
    house.start_worker()
    photo = cocoval / "000000000139.jpg"
    model = str(weights / "yolo11n_recovered.pt")
    assert _ask(house, None, model, photo).state is JobState.DONE
    before = {one.pid for one in house.processes()}
    job = _ask(house, None, model, photo)
    assert {one.pid for one in house.processes()} == before
    assert (job.result["width"], job.result["height"]) == (640, 426)
    assert {one["label"] for one in job.result["detections"]} >= {"person", "tv"}
    assert job.result["milliseconds"] > 0


def test_the_picture_is_there_until_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place: Place = places.make(tmp_path / "home")
    project, copy = place.sample(2), tmp_path / "try.png"
    with place.database.write.begin() as session:
        board = next(iter(detection.subjects(session, project, {})))
        copy.write_bytes(place.files.read(board.sha256))
        detection.try_one(session, project, "golden", copy)
    looked, there = trying.TryOut._boxes, []

    def look(*asked: Any) -> Any:
        there.append(copy.exists())
        return looked(*asked)

    monkeypatch.setattr(trying.TryOut, "_boxes", look)
    place.carry_out(place.claim())
    assert there == [True]
    assert not copy.exists()


def test_a_dropped_board_is_compared_with_the_golden_that_it_fits(tmp_path: Path) -> None:
    place: Place = places.make(tmp_path / "home")
    project = place.sample(3)
    with place.database.write.begin() as session:
        board = next(iter(detection.subjects(session, project, {})))
        copy = tmp_path / "board.png"
        copy.write_bytes(files.connect(place.settings).read(board.sha256))
        detection.try_one(session, project, "golden", copy)
    result = place.carry_out(place.claim())
    assert result["detections"]
    assert all(one["score"] >= 0.1 for one in result["detections"])
    place.database.close()


def test_a_phones_photograph_of_two_pictures_is_tried_by_its_first(tmp_path: Path) -> None:
    place: Place = places.make(tmp_path / "home")
    project, copy = place.sample(3), tmp_path / "phone.jpg"
    with place.database.write.begin() as session:
        board = next(iter(detection.subjects(session, project, {})))
        with Image.open(io.BytesIO(place.files.read(board.sha256))) as opened:
            first = opened.convert("RGB")
        small = first.resize((80, 60))
        first.save(copy, "MPO", quality=95, save_all=True, append_images=[small])
        detection.try_one(session, project, "golden", copy)
    result = place.carry_out(place.claim())
    assert (result["width"], result["height"]) == first.size
    assert result["detections"]
    place.database.close()


def test_a_refusal_is_an_answer_and_no_failed_job(tmp_path: Path) -> None:
    place = places.make(tmp_path / "home")
    project = place.sample(1)
    (tmp_path / "notes.png").write_text("notes")
    with place.database.write.begin() as session:
        detection.try_one(session, project, "golden", tmp_path / "notes.png")
    assert "notes.png is not a picture" in place.carry_out(place.claim())["refused"]
    place.database.close()
