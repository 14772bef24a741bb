"""A load: what a kill at any step, a frozen loader, two at once and an absence leave behind."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from subprocess import Popen

import psutil
import pytest
from sqlalchemy import func, select

from backend.domain import Detection, Run, RunImage
from backend.storage import findings, types
from backend.storage.engine import Database
from backend.storage.tables import DetectionRow, LoadRow, OutboxRow, RunImageRow, RunRow
from backend.warehouse import ledger, loading, outbox, standing
from tests import databases, overhearing, warehouses
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


def find(database: Database, run: int, images: int = 20, each: int = 10) -> None:
    boxes = tuple(Detection(i, 1, i + 5, 9, "x", 0.5, i) for i in range(each))
    seen = [RunImage(one, str(one), detections=boxes) for one in range(1, images + 1)]
    with database.write.begin() as session:
        findings.start(session, Run(run, "v2", "yolo", types.now()))
        findings.record(session, run, seen)
        findings.finish(session, run, 1.0, {})


def until_frozen(child: Popen[bytes]) -> None:
    """Wait until a process has stopped itself."""
    process = psutil.Process(child.pid)
    end = time.monotonic() + PATIENCE
    while process.status() != psutil.STATUS_STOPPED:
        assert child.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)


def once(house: Publishing, images: int, each: int = 10) -> None:
    """Every row is there, and no row twice; nothing is left over."""
    found = "SELECT count(*), count(DISTINCT image_id * 1000 + idx) FROM loupe_detection_now"
    assert house.place.ask(found) == [(images * each, images * each)]
    seen = house.place.ask("SELECT count(*) FROM loupe_run_image_now")
    assert seen == [(images,)]
    if house.place.port:
        tables = house.place.ask("SELECT table_name FROM information_schema.tables")
        assert [name for (name,) in tables if "staging" in name.lower()] == []
    assert not loading.scratch(house.settings).exists()
    with house.database.read() as session:
        assert not outbox.waits(session)
        assert ledger.unswept(session) == []


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


@contextmanager
def silent() -> Iterator[int]:
    """A port that accepts and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=50)) as server:
        yield int(server.getsockname()[1])


class Refuses(BaseHTTPRequestHandler):
    """Answers 500 to all."""

    def do_POST(self) -> None:
        self.send_error(500)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def refusing() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Refuses)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def closed() -> Iterator[int]:
    """A port that nobody listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = int(server.getsockname()[1])
    yield port


WAYS: dict[str, Callable[[], AbstractContextManager[int]]] = {
    "closed": closed,
    "silent": silent,
    "refusing": refusing,
}


@pytest.mark.parametrize("how", ["closed", "silent"])
def test_while_postgresql_is_away_the_loader_rests_and_says_why(
    sqlite: Database, tmp_path: Path, how: str
) -> None:
    with WAYS[how]() as port:
        house = away(sqlite, tmp_path, f"postgresql://me:hidden-word@127.0.0.1:{port}/x")
        rests(house, "LOUPE_WAREHOUSE_URL")
    arrives(house, tmp_path)


@pytest.mark.parametrize("how", ["closed", "refusing"])
def test_while_snowflake_is_away_the_loader_rests_and_says_why(
    sqlite: Database, tmp_path: Path, how: str
) -> None:
    with WAYS[how]() as port:
        place = warehouses.place("snowflake", tmp_path, port=port)
        house = warehouses.publishing(sqlite, tmp_path, place)
        find(sqlite, 7)
        child = house.start()
        assert child.wait(PATIENCE) == 1
        is_told(house, "Snowflake")
    arrives(house, tmp_path)


def away(database: Database, home: Path, url: str) -> Publishing:
    house = warehouses.publishing(database, home, Place(url))
    find(database, 7)
    return house


def rests(house: Publishing, word: str) -> None:
    assert not loading.run(house.database, house.settings)
    is_told(house, word)


def is_told(house: Publishing, word: str) -> None:
    with house.database.read() as session:
        assert not standing.is_due(session, house.settings)
        told = standing.of(session, house.settings)
    assert told is not None
    assert word in told.error
    assert "hidden-word" not in repr(told)
    assert told.waiting > 200
    assert told.since is not None
    assert told.rests_until is not None


def arrives(house: Publishing, home: Path) -> None:
    """Once there is a warehouse again all is published, exactly once."""
    there = warehouses.publishing(house.database, home, warehouses.place("sqlite", home))
    there.load()
    once(there, 20)


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


def test_no_other_address_is_asked_and_no_secret_is_left(
    sqlite: Database, tmp_path: Path, emulator: int, capfd: pytest.CaptureFixture[str]
) -> None:
    place = warehouses.place("snowflake", tmp_path, "", emulator)
    house = warehouses.publishing(sqlite, tmp_path / "home", place)
    environment = overhearing.environment(tmp_path / "asked")
    find(sqlite, 7)
    assert house.start(more=environment).wait(PATIENCE) == 0
    once(house, 20)
    file = Path(place.environment["SNOWFLAKE_HOME"], "connections.toml")
    with closed() as port:
        file.write_text(file.read_text().replace(f"port = {emulator}", f"port = {port}"))
        find(sqlite, 8)
        assert house.start(more=environment).wait(PATIENCE) == 1
    assert overhearing.heard(tmp_path / "asked") == []
    kept = [one for one in tmp_path.rglob("*") if one.is_file() and one != file]
    assert kept
    assert [one for one in kept if warehouses.SECRET.encode() in one.read_bytes()] == []
    assert warehouses.SECRET not in "".join(capfd.readouterr())
