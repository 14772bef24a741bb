"""What fails under a running site is said as what it is, and nothing is lost or half done."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import OperationalError

from app import server
from app.premises import Premises
from backend.settings import Settings
from backend.storage import engine, outages
from backend.storage.tables import SettingRow
from backend.storage.uploads import Uploads
from tests import databases
from tests.app.conftest import HERE, WRITE

# Linux's own, in which nothing is free.
FULL_DISK = Path("/proc/self")


@pytest.fixture
def premises(tmp_path: Path) -> Iterator[Premises]:
    """Premises of this test alone: it is broken on purpose."""
    opened = server.open_premises(Settings(home=tmp_path / "home"))
    yield opened
    opened.database.close()


@pytest.fixture
def client(premises: Premises) -> Iterator[TestClient]:
    with TestClient(server.create(premises), base_url=HERE) as asking:
        assert make(asking, "before").status_code == 201
        yield asking


def make(client: TestClient, name: str) -> Any:
    return client.post("/api/projects", json={"name": name, "task": "detect"}, headers=WRITE)


def names(client: TestClient) -> list[str]:
    return sorted(one["name"] for one in client.get("/api/projects").json())


def database(premises: Premises) -> Path:
    return Path(str(premises.database.engine.url.database))


def say(premises: Premises, pragma: str) -> None:
    """Every connection from now on has that setting."""
    event.listen(
        premises.database.engine, "connect", lambda raw, _: raw.execute(f"PRAGMA {pragma}")
    )
    premises.database.engine.dispose()


def test_a_database_that_was_replaced_is_noticed_at_the_next_save(
    client: TestClient, premises: Premises
) -> None:
    path = database(premises)
    shutil.copy(path, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
    for answer in (make(client, "lost"), client.get("/api/projects")):
        assert answer.status_code == 503
        assert "was replaced or removed while Loupe has the old file open" in answer.json()["error"]
    assert client.get("/health").json()["database"] == "away"


def test_a_database_that_is_put_back_is_taken_up_again(
    client: TestClient, premises: Premises
) -> None:
    path = database(premises)
    path.rename(path.with_suffix(".away"))
    assert make(client, "lost").status_code == 503
    path.with_suffix(".away").rename(path)
    assert make(client, "kept").status_code == 201
    assert names(client) == ["before", "kept"]


def test_a_database_that_another_program_locks_is_said_to_be_locked(
    client: TestClient, premises: Premises
) -> None:
    say(premises, "busy_timeout=50")
    with closing(sqlite3.connect(database(premises), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = make(client, "later")
        assert names(client) == ["before"]
    assert answer.status_code == 503
    assert "Nothing that was saved is lost" in answer.json()["error"]
    assert make(client, "later").status_code == 201


def test_a_full_disk_is_said_to_be_full_and_keeps_what_was_saved(
    client: TestClient, premises: Premises
) -> None:
    with premises.read() as session:
        pages = session.connection().exec_driver_sql("PRAGMA page_count").scalar_one()
    say(premises, f"max_page_count={pages}")
    answers = [make(client, f"{number} {'x' * 90}") for number in range(200)]
    full = next(one for one in answers if one.status_code != 201)
    assert full.status_code == 503
    assert full.json()["error"].startswith("The disk is full. Nothing that was saved is lost")
    assert "before" in names(client)


def test_an_upload_that_the_disk_does_not_take_is_answered_with_that(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr
    status, told = done.stdout.strip().split(" ", 1)
    assert status == "503"
    assert "The disk is full" in told


FULL = """
import resource, signal, sys
from pathlib import Path
from fastapi.testclient import TestClient
from app import server
from backend.settings import Settings
from tests import databases
from tests.app.conftest import HERE, WRITE
premises = server.open_premises(Settings(home=Path(sys.argv[1])))
with TestClient(server.create(premises), base_url=HERE) as client:
    client.post("/api/projects", json={"name": "a", "task": "detect"}, headers=WRITE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
    place = f"/api/projects/a/uploads/{'0' * 32}/a.zip"
    answer = client.put(place, content=bytes(9_000_000), headers=WRITE)
    print(answer.status_code, answer.json()["error"])
"""


@pytest.mark.skipif(not FULL_DISK.is_dir(), reason="There is no disk here that is always full.")
def test_health_and_uploads_say_that_the_disk_is_full(premises: Premises) -> None:
    there = replace(
        premises,
        settings=Settings(home=FULL_DISK),
        uploads=Uploads(FULL_DISK, 1000),
    )
    asking = TestClient(server.create(there), base_url=HERE)
    assert make(asking, "line").status_code == 201
    answer = asking.get("/health")
    assert (answer.status_code, answer.json()["disk"]) == (503, "full")
    refused = asking.put(f"/api/projects/line/uploads/{'0' * 32}/a", content=b"x", headers=WRITE)
    assert refused.status_code == 503
    assert "less than 1 GB left, so nothing is taken in" in refused.json()["error"]


def test_a_server_of_a_database_that_never_answers_is_not_waited_for_long(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://loupe@127.0.0.1:{silent.getsockname()[1]}/loupe"
        environment = {**os.environ, "LOUPE_HOME": str(tmp_path), "LOUPE_DATABASE_URL": url}
        done = subprocess.run(
            [str(Path(sys.executable).with_name("loupe")), "projects"],
            env=environment, capture_output=True, text=True, check=False,
            timeout=10 * engine.CONNECT_SECONDS,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert "/loupe cannot be opened: connection timeout expired. Is it there" in done.stderr


def test_health_asks_the_database_the_disk_and_the_worker(client: TestClient) -> None:
    answer = client.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "database": "ok", "disk": "ok", "worker": "none"}


def ask(server_url: str, *statements: str) -> None:
    """Of the database's server, as its owner would."""
    opened = create_engine(f"{server_url}/postgres", isolation_level="AUTOCOMMIT")
    with opened.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    opened.dispose()


def test_a_database_server_that_is_away_is_said_to_be_and_taken_up_again(
    postgres: str, tmp_path: Path
) -> None:
    url = databases.new_postgres_database(postgres)
    name = url.rpartition("/")[2]
    away = f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"
    cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    premises = server.open_premises(Settings(home=tmp_path / "home", database_url=SecretStr(url)))
    with TestClient(server.create(premises), base_url=HERE) as client:
        assert make(client, "before").status_code == 201
        ask(postgres, away, cut)
        answer, health = make(client, "later"), client.get("/health")
        ask(postgres, away.replace("false", "true"))
        assert make(client, "later").status_code == 201
        assert names(client) == ["before", "later"]
    said = answer.json()["error"]
    assert (answer.status_code, health.status_code, health.json()["database"]) == (503, 503, "away")
    assert said.startswith(f'The database does not answer: FATAL: database "{name}" is not')
    assert said.count("FATAL") == 1


@pytest.mark.parametrize("state", ["readonly", "foreign", "no database", "cut short"])
def test_a_command_on_an_unusable_database_ends_with_a_sentence(tmp_path: Path, state: str) -> None:
    home, path = tmp_path / "home", tmp_path / "home" / "loupe.db"
    loupe = str(Path(sys.executable).with_name("loupe"))
    environment = {**os.environ, "LOUPE_HOME": str(home)}
    subprocess.run([loupe, "projects"], env=environment, check=True, capture_output=True)
    if state == "readonly":
        environment["LOUPE_DATABASE_URL"] = f"sqlite:///file:{path}?mode=ro&uri=true"
    elif state == "foreign":
        path.unlink()
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("CREATE TABLE songs (name TEXT)")
    elif state == "no database":
        path.write_bytes(b"dear diary " * 500)
    else:
        os.truncate(path, path.stat().st_size // 2)
    before = path.read_bytes()
    command = [loupe, "sample", "boards", "--images", "2"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert SAYS[state] in done.stderr
    assert path.read_bytes() == before


SAYS = {
    "readonly": "The database cannot be written: it, or its folder, is read-only.",
    "foreign": "holds the tables of another program, so it is left as it is.",
    "no database": "is no database of SQLite, so it is left as it is.",
    "cut short": "is cut short: bring a whole copy of it back.",
}


def test_two_changes_that_wait_for_each_other_are_told_apart(postgres: str) -> None:
    opened = engine.open_url(databases.new_postgres_database(postgres))
    engine.create_tables(opened)
    with opened.write.begin() as session:
        session.add_all(SettingRow(name=name, value="") for name in "ab")
    met = threading.Barrier(2)

    def change(order: str) -> str:
        try:
            with opened.write.begin() as session:
                session.get_one(SettingRow, order[0], with_for_update=True)
                met.wait()
                session.get_one(SettingRow, order[1], with_for_update=True)
        except OperationalError as error:
            return outages.sentence(error)
        return ""

    with ThreadPoolExecutor(2) as pool:
        told = "".join(pool.map(change, ("ab", "ba")))
    opened.close()
    assert told == (
        "Two changes stood in each other's way, and this one was not made. "
        "Nothing that was saved is lost: try again."
    )
