"""While the warehouse is away: who is told what, who rests, and what arrives in the end."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import select

from backend.errors import Unavailable
from backend.storage.engine import Database
from backend.storage.tables import LoadRow, OutboxRow
from backend.storage.types import now
from backend.warehouse import ledger, loading, standing
from backend.warehouse.dialects import opening
from tests import databases, fronts, overhearing, warehouses
from tests.backend.warehouse.finding import find, once, until_frozen
from tests.fronts import Front
from tests.warehouses import Place, Publishing
from workers.publishing import Publisher

PATIENCE = 120.0
HOUR = timedelta(hours=1)
ROUNDS = 10 * 60 // 2  # of a worker that looks every two seconds, in ten minutes


@pytest.fixture
def front() -> Iterator[Front]:
    """A port that can be away."""
    with fronts.front() as made:
        yield made


@pytest.fixture(params=["postgres", "snowflake"])
def house(
    request: pytest.FixtureRequest, sqlite: Database, tmp_path: Path, front: Front
) -> Publishing:
    """A house with each warehouse that has a server, which may be away."""
    if request.param == "postgres":
        url = databases.new_postgres_database(request.getfixturevalue("postgres"))
        front.target = int(url.rpartition(":")[2].partition("/")[0])
        place = Place(url.replace(f":{front.target}/", f":{front.port}/"))
    else:
        front.target = request.getfixturevalue("emulator")
        place = warehouses.place("snowflake", tmp_path, port=front.port)
    return warehouses.publishing(sqlite, tmp_path, place)


def fails(house: Publishing) -> str:
    """A load that comes to nothing; gives what people are told of it."""
    if house.place.environment:
        assert house.start().wait(PATIENCE) == 1
    else:
        assert not loading.run(house.database, house.settings)
    return told_at_rest(house)


def told_at_rest(house: Publishing) -> str:
    """What people are told of the last load, which failed; the next one has to wait."""
    with house.database.read() as session:
        told = standing.of(session, house.settings)
        (last,) = ledger.loads(session, 1)
    assert told is not None
    assert told.since is not None
    assert told.rests_until is not None
    assert last.finished is not None
    assert told.rests_until - last.finished >= ledger.FIRST_REST
    assert "hidden-word" not in repr(told)
    assert "\n" not in told.error
    return told.error


def passes(database: Database, time: timedelta) -> None:
    """That much time goes by: all that has a moment is so much older."""
    with database.write.begin() as session:
        for load in session.scalars(select(LoadRow)):
            load.started -= time
            load.finished = load.finished and load.finished - time
        for part in session.scalars(select(OutboxRow)):
            part.at -= time


@pytest.mark.parametrize("way", fronts.AWAY)
def test_after_an_hour_away_all_arrives_and_nothing_twice(
    house: Publishing, front: Front, way: str
) -> None:
    find(house.database, 7)
    front.go(way)
    assert any(word in fails(house) for word in ("Snowflake", "LOUPE_WAREHOUSE_URL"))
    tries = gone_by(house)
    assert 5 < tries < 12
    with house.database.read() as session:
        told = standing.of(session, house.settings)
        assert told is not None
        sentences = " ".join(standing.sentences(told))
    assert re.search(rf"{told.waiting} changed rows wait, the oldest for 6\d minutes\.", sentences)
    assert f"Since {told.since:%Y-%m-%d %H:%M} UTC it fails: " in sentences
    front.go(fronts.OPEN)
    passes(house.database, ledger.LONGEST_REST)
    with house.database.read() as session:
        assert standing.is_due(session, house.settings)
    house.load()
    once(house, 20)


def gone_by(house: Publishing) -> int:
    """An hour in which each try fails; gives how many there were."""
    tries, left = 1, HOUR
    while left:
        with house.database.read() as session:
            until = ledger.rests_until(session)
        assert until is not None
        pause = min(left, max(timedelta(), until - now()) + timedelta(seconds=1))
        passes(house.database, pause)
        left -= pause
        if left:
            with house.database.write.begin() as session:
                load = ledger.begin(session)
                assert load is not None
                ledger.fail(session, load, "It is away.", 1)
            tries += 1
    return tries


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("390100", "LOUPE_SNOWFLAKE_PASSWORD"),
        ("390144", "LOUPE_SNOWFLAKE_PRIVATE_KEY_FILE"),
        ("390318", "LOUPE_SNOWFLAKE_OAUTH_TOKEN"),
        ("394400", "LOUPE_SNOWFLAKE_ACCESS_TOKEN"),
        ("390189", "GRANT ROLE"),
        ("390201", "GRANT USAGE ON WAREHOUSE"),
        ("399999", "does not take it: .*Refused: .*loupe"),
    ],
)
def test_a_login_that_snowflake_refuses_is_one_sentence(
    tmp_path: Path, front: Front, code: str, words: str
) -> None:
    front.go(code)
    place = warehouses.place("snowflake", tmp_path, port=front.port)
    with pytest.raises(Unavailable, match=words) as refused:
        opening.connect(place.address, tmp_path)
    assert "hidden-word" not in str(refused.value)
    assert front.accepted < 4


def test_a_missing_right_is_told_as_the_sql_that_gives_it(
    sqlite: Database, tmp_path: Path, postgres: str
) -> None:
    url = databases.new_postgres_database(postgres)
    name = f"reader_{url.rpartition('_')[2]}"
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as server:
        server.execute(f"CREATE ROLE {name} LOGIN")
        server.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    house = warehouses.publishing(sqlite, tmp_path, Place(url.replace("loupe@", f"{name}@")))
    find(sqlite, 7)
    assert not loading.run(house.database, house.settings)
    assert "GRANT CREATE, USAGE ON SCHEMA public" in told_at_rest(house)


def test_a_full_disk_is_told_and_what_waited_arrives_later(
    sqlite: Database, tmp_path: Path, emulator: int
) -> None:
    place = warehouses.place("snowflake", tmp_path, port=emulator)
    house = warehouses.publishing(sqlite, tmp_path, place)
    find(sqlite, 7)
    child = house.start("staging run_image", signal.SIGSTOP)
    until_frozen(child)
    (folder,) = loading.scratch(house.settings).iterdir()
    (folder / "run_image.part").symlink_to("/dev/full")
    child.send_signal(signal.SIGCONT)
    assert child.wait(PATIENCE) == 1
    assert "No space left on device" in told_at_rest(house)
    house.load()
    once(house, 20)


def test_in_ten_idle_minutes_nobody_is_asked(
    sqlite: Database, tmp_path: Path, postgres: str, front: Front
) -> None:
    url = databases.new_postgres_database(postgres)
    front.target = int(url.rpartition(":")[2].partition("/")[0])
    place = Place(url.replace(f":{front.target}/", f":{front.port}/"))
    house = warehouses.publishing(sqlite, tmp_path, place)
    find(sqlite, 7)
    house.load()
    asked = front.accepted
    assert asked > 0
    for _ in range(ROUNDS):
        publisher = Publisher(house.database, house.settings)
        publisher.tick()
        publisher.close()
    assert front.accepted == asked


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
    with fronts.front(way=fronts.CLOSED) as front:
        file.write_text(file.read_text().replace(f"port = {emulator}", f"port = {front.port}"))
        find(sqlite, 8)
        assert house.start(more=environment).wait(PATIENCE) == 1
    assert overhearing.heard(tmp_path / "asked") == []
    kept = [one for one in tmp_path.rglob("*") if one.is_file() and one != file]
    assert kept
    assert [one for one in kept if warehouses.SECRET.encode() in one.read_bytes()] == []
    assert warehouses.SECRET not in "".join(capfd.readouterr())
