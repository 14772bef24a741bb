"""A worker publishes by itself, and notes nothing where there is no warehouse."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from backend.domain import Detection, JobState, Run, RunImage
from backend.jobs import kinds
from backend.storage import findings, types
from backend.storage.tables import LoadRow, OutboxRow
from backend.warehouse import ledger, outbox
from tests import fronts, warehouses
from tests.homes import whole_home
from tests.workers import running
from tests.workers.running import House

SECRET = "marked-secret-7"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with running.house(tmp_path) as built:
        yield built


def published(house: House) -> int:
    file = house.home / "results.db"
    if not file.is_file():
        return 0
    with closing(sqlite3.connect(file)) as lite:
        there = lite.execute("SELECT 1 FROM sqlite_master WHERE name = 'loupe_detection_now'")
        if there.fetchone() is None:
            return 0
        return int(lite.execute("SELECT count(*) FROM loupe_detection_now").fetchone()[0])


def find(house: House, run: int, found: int) -> None:
    boxes = tuple(Detection(i, 1, i + 5, 9, "x", 0.5, i) for i in range(found))
    with house.database.write.begin() as session:
        findings.start(session, Run(run, "v2", "yolo", types.now()))
        findings.record(session, run, [RunImage(1, "1", detections=boxes)])
        findings.finish(session, run, 1.0, {})


def test_what_a_run_found_is_published_when_it_ends(house: House) -> None:
    whole_home.fill(house.database)
    with house.database.write.begin() as session:
        session.query(OutboxRow).delete()
        session.query(LoadRow).delete()
    house.start_worker(LOUPE_WAREHOUSE_URL=f"sqlite:///{house.home}/results.db")
    house.until_true(lambda: published(house) == 6)
    find(house, 77, 40)
    house.until_true(lambda: published(house) == 46)
    house.stop()
    house.until_empty()
    assert not (house.home / "cache" / "warehouse").exists()


def test_no_secret_is_left_by_a_worker_that_is_refused(
    house: House,
    tmp_path_factory: pytest.TempPathFactory,
    capfd: pytest.CaptureFixture[str],
) -> None:
    told = {
        "LOUPE_WAREHOUSE_URL": "snowflake://?connection_name=here",
        "LOUPE_SNOWFLAKE_PASSWORD": SECRET,
    }
    with fronts.front(way="399999") as front:
        there = warehouses.place("snowflake", tmp_path_factory.mktemp("away"), port=front.port)
        connections = Path(there.environment["SNOWFLAKE_HOME"], "connections.toml")
        connections.write_text(connections.read_text().replace(warehouses.SECRET, "from-file"))
        find(house, 77, 4)
        house.start_worker(**there.environment, **told)
        house.until_true(lambda: failed(house) != "")
        done = house.until_ended(house.put(kinds.Check(project_id=None, steps=1, seconds=0.05)))
        house.stop()
    assert done.state is JobState.DONE
    assert "Snowflake" in failed(house)
    files = [one for one in house.home.rglob("*") if one.is_file()]
    assert any(one.name == "warehouse.log" for one in files)
    said = "".join(capfd.readouterr())
    for secret in (SECRET, "from-file"):
        assert [one for one in files if secret.encode() in one.read_bytes()] == []
        assert secret not in said


def failed(house: House) -> str:
    """What the ledger says of the last load, once it has failed."""
    with house.database.read() as session:
        (last,) = ledger.loads(session, 1) or (None,)
    return last.error if last else ""


def test_a_wrong_warehouse_holds_up_no_job(house: House) -> None:
    house.start_worker(LOUPE_WAREHOUSE_URL="mysql://me@here/x")
    done = house.until_ended(house.put(kinds.Check(project_id=None, steps=1, seconds=0.05)))
    assert done.state is JobState.DONE
    house.stop()


def test_without_a_warehouse_nothing_is_noted(house: House) -> None:
    with house.database.write.begin() as session:
        outbox.install(session)
    find(house, 77, 2)
    house.start_worker()

    def is_removed() -> bool:
        with house.database.read() as session:
            return session.scalar(select(func.count()).select_from(OutboxRow)) == 0

    house.until_true(is_removed)
    find(house, 78, 2)
    assert is_removed()
    house.stop()
