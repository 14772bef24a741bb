"""A load: what a kill at any step, a frozen loader, two at once and an absence leave behind."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import func, select

from backend.domain import Detection, Run, RunImage
from backend.storage import findings, types
from backend.storage.engine import Database
from backend.storage.tables import DetectionRow, LoadRow, OutboxRow, RunImageRow, RunRow
from backend.warehouse import ledger, outbox, standing
from tests import databases, warehouses
from tests.backend.warehouse.finding import find, once, until_frozen
from tests.warehouses import Place, Publishing

PATIENCE = 120.0
STEPS = ("reading", "staging run_image", "merging run_image", "counting detection", "loaded")


@pytest.fixture(params=["sqlite", "postgres", "snowflake"])
def house(request: pytest.FixtureRequest, sqlite: Database, tmp_path: Path) -> Publishing:
    """A house with a warehouse of each kind, and a short lease."""
    kind, server, port = request.param, "", 0
    if kind == "postgres":
        server = databases.new_postgres_database(request.getfixturevalue("postgres"))
    if kind == "snowflake":
        port = request.getfixturevalue("emulator")
    place = warehouses.place(kind, tmp_path, server, port)
    return warehouses.publishing(sqlite, tmp_path, place, lease=4.0)


@pytest.fixture
def file(sqlite: Database, tmp_path: Path) -> Publishing:
    """A house with a file as its warehouse."""
    return warehouses.publishing(sqlite, tmp_path, warehouses.place("sqlite", tmp_path))


@pytest.mark.parametrize("wanted", STEPS)
def test_a_loader_killed_at_any_step_loses_and_doubles_nothing(
    house: Publishing, wanted: str
) -> None:
    find(house.database, 7)
    assert house.start(wanted, signal.SIGKILL).wait(PATIENCE) == -signal.SIGKILL
    house.load()
    once(house, 20)


def test_a_frozen_loader_that_wakes_after_its_lease_doubles_nothing(house: Publishing) -> None:
    find(house.database, 7)
    # SQLite's one lock of the file is held from the first row on.
    lite = house.place.url.startswith("sqlite")
    frozen = house.start("reading" if lite else "merging run_image", signal.SIGSTOP)
    until_frozen(frozen)
    house.load()
    frozen.send_signal(signal.SIGCONT)
    frozen.wait(PATIENCE)
    house.load()
    once(house, 20)


def test_of_two_loaders_one_loads_at_a_time(house: Publishing) -> None:
    find(house.database, 7)
    both = [house.start(), house.start()]
    assert [one.wait(PATIENCE) for one in both] == [0, 0]
    once(house, 20)


def test_nothing_is_sent_where_nothing_waits(file: Publishing) -> None:
    find(file.database, 7)
    file.load()
    with file.database.read() as session:
        before = session.scalar(select(func.count()).select_from(LoadRow))
        assert not standing.is_due(session, file.settings)
    file.load()
    with file.database.read() as session:
        assert session.scalar(select(func.count()).select_from(LoadRow)) == before


def test_a_load_takes_few_statements_a_table(house: Publishing) -> None:
    find(house.database, 7)
    house.load()
    find(house.database, 8)
    house.load()
    with house.database.read() as session:
        last = ledger.last_loaded(session)
    assert last is not None
    assert set(last.rows) == {"run", "run_image", "detection"}
    assert last.statements <= 6 * len(last.rows)


def test_a_million_detections_are_a_few_rows_of_the_outbox(database: Database) -> None:
    with database.write.begin() as session:
        outbox.install(session)
    for chunk in range(8):
        boxes = tuple(Detection(i, 1, i + 5, 9, "x", 0.5, i) for i in range(20))
        seen = [RunImage(250 * chunk + one, "i", detections=boxes) for one in range(250)]
        with database.write.begin() as session:
            findings.start(session, Run(7, "v2", "yolo", types.now()))
            findings.record(session, 7, seen)
    with database.read() as session:
        noted = select(func.sum(OutboxRow.rows), func.count()).filter_by(kind="detection")
        rows, count = session.execute(noted).one()
        parts = outbox.take(session, 1, 10**9)
    assert (int(rows), count <= 8) == (8 * 250 * 20, True)
    assert sum(one.kind == "detection" for one in parts) == 2


def test_results_do_not_wait_for_pictures_that_were_asked_for_before(database: Database) -> None:
    with database.write.begin() as session:
        outbox.enlist(session, "picture", {(at, 0): 0 for at in range(3)})
        outbox.enlist(session, "run", {(7, 0): 0})
    with database.write.begin() as session:
        assert [one.kind for one in outbox.take(session, 1, 10**9)] == ["run", *["picture"] * 3]


def test_what_is_undone_with_its_transaction_is_not_noted(database: Database) -> None:
    with database.write.begin() as session:
        outbox.install(session)
    with database.write() as session:
        findings.start(session, Run(7, "v2", "yolo", types.now()))
        session.rollback()
    with database.read() as session:
        assert not outbox.waits(session)


def test_what_a_lost_warehouse_had_is_published_anew(file: Publishing) -> None:
    find(file.database, 7)
    file.load()
    other = replace(file.place, url=f"{file.place.url}.other")
    there = warehouses.publishing(file.database, file.settings.home, other)
    with there.database.read() as session:
        assert standing.is_due(session, there.settings)
    there.load()
    once(there, 20)


def drop(place: Place, table: str) -> None:
    """Drop a table as an administrator might, with the views that ask it."""
    if place.url.startswith("postgresql"):
        with psycopg.connect(place.url.replace("+psycopg", "")) as connection:
            connection.execute(f"DROP TABLE {table} CASCADE")
    elif place.port:
        place.change(f"DROP TABLE {table}")
    else:
        place.ask(f"DROP TABLE {table}")


def test_a_table_that_was_dropped_is_told_made_anew_and_filled(house: Publishing) -> None:
    find(house.database, 7)
    house.load()
    drop(house.place, "loupe_detection")
    find(house.database, 8)
    assert house.start().wait(PATIENCE) == 1
    with house.database.read() as session:
        (last,) = ledger.loads(session, 1)
    assert last.error.startswith("The warehouse has lost loupe_detection, or hides it")
    house.load()
    rows = "SELECT count(*), count(DISTINCT run_id), count(DISTINCT image_id) FROM loupe_found"
    assert house.place.ask(rows) == [(400, 2, 20)]
    assert house.place.ask("SELECT count(*) FROM loupe_seen") == [(40,)]


def test_a_restored_home_publishes_over_what_is_newer(file: Publishing) -> None:
    find(file.database, 7)
    for _ in range(3):
        find(file.database, 8)
        with file.database.write.begin() as session:
            outbox.enlist_all(session)
        file.load()
    with file.database.write.begin() as session:
        session.query(LoadRow).delete()
        session.query(OutboxRow).delete()
        ledger.set_laid(session, "")
        for row in (DetectionRow, RunImageRow, RunRow):
            session.query(row).filter_by(**{"id" if row is RunRow else "run_id": 8}).delete()
    file.load()
    once(file, 20)


def test_pauses_grow_to_fifteen_minutes_and_end_with_a_success(file: Publishing) -> None:
    pauses = []
    for _ in range(8):
        with file.database.write.begin() as session:
            load = ledger.begin(session)
            assert load is not None
            ledger.fail(session, load, "It is away.", 1)
            failed, until = ledger.loads(session, 1)[0].finished, ledger.rests_until(session)
        assert failed is not None
        assert until is not None
        pauses.append((until - failed).total_seconds())
    assert pauses == [30, 60, 120, 240, 480, 900, 900, 900]
    find(file.database, 7)
    file.load()
    with file.database.read() as session:
        assert ledger.rests_until(session) is None
