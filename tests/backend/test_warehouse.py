"""Writing what a run found: once, also when it is written twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import fakesnow
import pytest
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage
from backend.storage import engine, types, warehouse
from backend.storage.engine import Database
from tests import databases

RUN = Run(5, "v1", "yolo", types.now(), project_id=1, ledger_key="k", parameters={"conf": 0.25})
FOUND = (Detection(1, 2, 3, 4, "open", 0.9), Detection(5, 6, 7, 8, "spur", 0.5, 1))
SEEN = [
    RunImage(1, "a.png", "a" * 64, 64, 64, detections=FOUND, milliseconds=3.5),
    RunImage(2, "b.png", "b" * 64, 64, 64),
    RunImage(3, "c.png", status="unreadable", error="c.png is empty."),
]


@pytest.fixture(params=["sqlite", "postgres", "apart", "snowflake"])
def results(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Results in the operational database, in one of their own, and in (a fake of) Snowflake."""
    urls: dict[str, tuple[str, str | None]] = {"sqlite": (f"sqlite:///{tmp_path}/a.db", None)}
    urls["apart"] = (f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db")
    urls["snowflake"] = (f"sqlite:///{tmp_path}/a.db", "snowflake://u:p@fake/loupe/public")
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        urls["postgres"] = (databases.new_postgres_database(server), None)
    with fakesnow.patch() if request.param == "snowflake" else nullcontext():
        opened = engine.open_urls(*urls[request.param])
        engine.create_tables(opened)
        yield opened
        opened.close()


def started(session: Session) -> None:
    warehouse.start(session, RUN)


def test_a_chunk_written_twice_is_there_once(results: Database) -> None:
    with results.write.begin() as session:
        started(session)
        assert warehouse.record(session, 5, SEEN[:2]) == 2
    with results.write.begin() as session:
        started(session)
        assert warehouse.record(session, 5, SEEN) == 1
    with results.read() as session:
        assert warehouse.images(session, 5, [1, 2, 3]) == {s.image_id: s for s in SEEN}


def test_a_chunk_that_is_not_committed_leaves_nothing(results: Database) -> None:
    session = results.write()
    started(session)
    warehouse.record(session, 5, SEEN)
    session.rollback()
    session.close()
    with results.read() as reading:
        assert warehouse.seen(reading, 5) == set()
        assert warehouse.runs(reading, 1) == []


def test_a_known_picture_is_found_by_its_bytes(results: Database) -> None:
    with results.write.begin() as session:
        started(session)
        warehouse.record(session, 5, SEEN)
    with results.read() as session:
        known = warehouse.known(session, "k", ["a" * 64, "b" * 64, "d" * 64])
        assert warehouse.known(session, "other settings", ["a" * 64]) == {}
    assert {sha: one.detections for sha, one in known.items()} == {"a" * 64: FOUND, "b" * 64: ()}


def test_a_finished_run_knows_its_figures(results: Database) -> None:
    with results.write.begin() as session:
        started(session)
        warehouse.record(session, 5, SEEN)
        warehouse.finish(session, 5, 1.5, {"images_per_second": 2.0})
        run = warehouse.get(session, 5)
    assert (run.images, run.seconds, run.facts["images_per_second"]) == (3, 1.5, 2.0)
    assert replace(run, finished=None, images=0, seconds=0.0, facts={}) == RUN


def test_the_least_certain_image_is_the_most_doubtful() -> None:
    assert warehouse.doubt([0.99, 0.5]) == 1.0
    assert warehouse.doubt([0.99]) < warehouse.doubt([0.9]) < 0.3
    assert warehouse.doubt([]) == 0.0
