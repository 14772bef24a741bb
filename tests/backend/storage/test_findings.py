"""Writing what a run found: once, also when it is written twice."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage
from backend.storage import engine, findings, types
from backend.storage.engine import Database
from backend.storage.tables import DetectionRow

WHERE = {"path": "lot"}
RUN = Run(5, "v1", "yolo", types.now(), 1, source=WHERE, ledger_key="k", parameters={"conf": 0.25})
FOUND = (Detection(1, 2, 3, 4, "open", 0.9), Detection(5, 6, 7, 8, "spur", 0.5, 1))
SEEN = [
    RunImage(1, "a.png", "a" * 64, 64, 64, detections=FOUND, milliseconds=3.5),
    RunImage(2, "b.png", "b" * 64, 64, 64),
    RunImage(3, "c.png", status="unreadable", error="c.png is empty."),
]


def started(session: Session) -> None:
    findings.start(session, RUN)


def test_a_chunk_written_twice_is_there_once(database: Database) -> None:
    with database.write.begin() as session:
        started(session)
        assert findings.record(session, 5, SEEN[:2]) == 2
    with database.write.begin() as session:
        started(session)
        assert findings.record(session, 5, SEEN) == 1
    with database.read() as session:
        assert findings.images(session, 5, [1, 2, 3]) == {s.image_id: s for s in SEEN}


def test_a_chunk_that_is_not_committed_leaves_nothing(database: Database) -> None:
    session = database.write()
    started(session)
    findings.record(session, 5, SEEN)
    session.rollback()
    session.close()
    with database.read() as reading:
        assert findings.seen(reading, 5) == set()
        assert findings.runs(reading, 1) == []


def _record_and_die(url: str) -> None:
    opened = engine.open_url(url)
    with opened.write.begin() as session:
        started(session)
        findings.record(session, 5, SEEN[:1])
    session = opened.write()
    findings.record(session, 5, SEEN)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_chunk_whose_writer_is_killed_is_written_whole_by_the_next(database: Database) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    child = multiprocessing.get_context("spawn").Process(target=_record_and_die, args=(url,))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    with database.write.begin() as session:
        assert findings.seen(session, 5) == {1}
        assert findings.record(session, 5, SEEN) == 2
        assert findings.images(session, 5, [1, 2, 3]) == {s.image_id: s for s in SEEN}


def test_what_cannot_be_written_in_bulk_is_an_error_of_the_database(database: Database) -> None:
    place = {"x1": 1.0, "y1": 2.0, "x2": 3.0, "y2": 4.0}
    row = {"run_id": 5, "image_id": 1, "idx": 0, "label": "open", "score": 0.5, **place}
    with database.write() as session, pytest.raises(IntegrityError):
        engine.bulk_insert(session, DetectionRow, [row, row])


def test_a_known_picture_is_found_by_its_bytes(database: Database) -> None:
    with database.write.begin() as session:
        started(session)
        findings.record(session, 5, SEEN)
    with database.read() as session:
        known = findings.known(session, "k", ["a" * 64, "b" * 64, "d" * 64])
        assert findings.known(session, "other settings", ["a" * 64]) == {}
    assert {sha: one.detections for sha, one in known.items()} == {"a" * 64: FOUND, "b" * 64: ()}


def test_a_finished_run_knows_its_figures(database: Database) -> None:
    with database.write.begin() as session:
        started(session)
        findings.record(session, 5, SEEN)
        findings.finish(session, 5, 1.5, {"images_per_second": 2.0})
        run = findings.get(session, 5)
    assert (run.images, run.seconds, run.facts["images_per_second"]) == (3, 1.5, 2.0)
    assert replace(run, finished=None, images=0, seconds=0.0, facts={}) == RUN


def test_the_least_certain_image_is_the_most_doubtful() -> None:
    assert findings.doubt([0.99, 0.5]) == 1.0
    assert findings.doubt([0.99]) < findings.doubt([0.9]) < 0.3
    assert findings.doubt([]) == 0.0
