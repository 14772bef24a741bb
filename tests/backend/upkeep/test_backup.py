"""A backup holds all of a home, whole or not at all, and comes back on either database."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, select

from backend.domain import Role
from backend.errors import Invalid, Refused
from backend.labels import gallery, labelling, samples
from backend.projects import catalogue, people, tokens
from backend.storage import engine, schema
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import LoginRow
from backend.storage.types import now
from backend.upkeep import backup
from tests import databases

Make = Callable[[], tuple[Database, Files]]


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of database that a backup is taken from."""
    return str(request.param)


@pytest.fixture(params=["sqlite", "postgres"])
def other(request: pytest.FixtureRequest) -> str:
    """The kind of database that it is brought into."""
    return str(request.param)


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """Makes empty homes, each a database of that kind and a store."""
    made: list[Database] = []

    def make(kind: str) -> tuple[Database, Files]:
        folder = tmp_path / f"home{len(made)}"
        folder.mkdir()
        url = f"sqlite:///{folder / 'loupe.db'}"
        if kind == "postgres":
            url = databases.new_postgres_database(request.getfixturevalue("postgres"))
        database = engine.open_url(url)
        made.append(database)
        schema.prepare(database)
        return database, Files(str(folder / "files"), folder / "cache")

    yield make
    for database in made:
        database.close()


def filled(database: Database, files: Files, images: int = 4) -> None:
    pictures = samples.draw(files, "pcb", images, seed=5)
    with database.write.begin() as session:
        samples.create(session, "boards", "pcb", pictures)


def rows(database: Database) -> dict[str, list[Any]]:
    """All there is in a database, table by table."""
    tables = MetaData()
    tables.reflect(database.engine)
    with database.engine.connect() as connection:
        return {
            name: sorted(map(repr, connection.execute(select(table))))
            for name, table in tables.tables.items()
        }


def test_a_home_comes_back_as_it_was_on_either_database(
    home: Any, kind: str, other: str, tmp_path: Path
) -> None:
    database, files = home(kind)
    filled(database, files)
    written = backup.write(database, files, tmp_path / "b")
    again, store = home(other)
    assert backup.read(tmp_path / "b", again, store) == written
    assert rows(again) == rows(database)
    with again.write.begin() as session:
        board = catalogue.find(session, "boards")
        for item in gallery.every(session, board.id, gallery.Filter()):
            assert store.read(item.image.sha256) == files.read(item.image.sha256)
        image = gallery.ids(session, board.id, gallery.Filter())[0]
        labelling.save(session, image, labelling.version_of(session, image), (), "ana")
        assert catalogue.create(session, "next").id > board.id


def test_nobody_is_logged_in_and_no_token_goes_on_after_a_restore(
    home: Any, kind: str, tmp_path: Path
) -> None:
    database, files = home(kind)
    with database.write.begin() as session:
        people.add(session, "ana", Role.ADMIN, "correct horse")
        row = {"id": "x", "person": "ana", "address": "", "browser": ""}
        session.add(LoginRow(**row, began=now(), seen=now()))
        token, secret = tokens.add(session, "line 3", "ana")
        asker = tokens.find(session, tokens.digest(secret), None)
        assert asker is not None
        tokens.used(session, asker, "train", "project boards", "", "d" * 64)
    backup.write(database, files, tmp_path / "b")
    again, store = home(kind)
    backup.read(tmp_path / "b", again, store)
    with again.read.begin() as session:
        assert [one.name for one in people.everyone(session)] == ["ana"]
        assert session.scalars(select(LoginRow.id)).all() == []
        assert tokens.find(session, tokens.digest(secret), None) is None
        assert [(one.token, one.person) for one in tokens.uses(session)] == [("line 3", "ana")]
    with again.write.begin() as session:
        assert tokens.add(session, "line 3", "ana")[0].id > token.id


def test_a_site_goes_on_while_it_is_copied(home: Any, kind: str, tmp_path: Path) -> None:
    database, files = home(kind)
    filled(database, files)
    over = threading.Event()

    def saving() -> None:
        with database.read.begin() as session:
            board = catalogue.find(session, "boards")
            image = gallery.ids(session, board.id, gallery.Filter())[0]
        while not over.is_set():
            with database.write.begin() as session:
                version = labelling.version_of(session, image)
                labelling.save(session, image, version, (), "ana")

    person = threading.Thread(target=saving)
    person.start()
    backup.write(database, files, tmp_path / "b")
    over.set()
    person.join()
    again, store = home("sqlite")
    backup.read(tmp_path / "b", again, store)
    with again.read.begin() as session:
        board = catalogue.find(session, "boards")
        image = gallery.ids(session, board.id, gallery.Filter())[0]
        versions = [one.version for one in labelling.history(session, image)]
        assert versions == list(range(len(versions), 0, -1))


def test_a_home_that_is_used_takes_no_backup(home: Any, tmp_path: Path) -> None:
    database, files = home("sqlite")
    filled(database, files)
    backup.write(database, files, tmp_path / "b")
    before = rows(database)
    with pytest.raises(Refused, match="something in this home already"):
        backup.read(tmp_path / "b", database, files)
    with pytest.raises(Refused, match="there already"):
        backup.write(database, files, tmp_path / "b")
    assert rows(database) == before


def test_a_file_that_was_damaged_or_lost_is_named_and_the_rest_comes_back(
    home: Any, tmp_path: Path
) -> None:
    database, files = home("sqlite")
    filled(database, files)
    with database.read.begin() as session:
        board = catalogue.find(session, "boards")
        first, second, third, *_ = (
            item.image.sha256 for item in gallery.every(session, board.id, gallery.Filter())
        )
    damaged = files.local_path(first)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    files.local_path(second).unlink()
    report = backup.write(database, files, tmp_path / "b")
    assert (report.damaged, report.missing) == ([first], [second])
    again, store = home("sqlite")
    backup.read(tmp_path / "b", again, store)
    assert [store.has(name) for name in (first, second, third)] == [False, False, True]


@pytest.mark.parametrize("length", [0, 700, 20_000, -12_000])
def test_half_a_backup_and_what_is_none_are_refused(home: Any, tmp_path: Path, length: int) -> None:
    database, files = home("sqlite")
    filled(database, files)
    backup.write(database, files, tmp_path / "b")
    whole = (tmp_path / "b").read_bytes()
    (tmp_path / "half").write_bytes(whole[:length])
    again, store = home("sqlite")
    before = rows(again)
    with pytest.raises(Invalid, match=r"is no (whole )?backup of Loupe"):
        backup.read(tmp_path / "half", again, store)
    assert rows(again) == before


def test_a_flipped_byte_is_told_before_any_row_comes_in(home: Any, tmp_path: Path) -> None:
    database, files = home("sqlite")
    filled(database, files)
    backup.write(database, files, tmp_path / "b")
    whole = bytearray((tmp_path / "b").read_bytes())
    with database.read.begin() as session:
        board = catalogue.find(session, "boards")
        name = next(iter(gallery.every(session, board.id, gallery.Filter()))).image.sha256
    place = whole.index(files.read(name)) + 100
    whole[place] ^= 1
    (tmp_path / "b").write_bytes(whole)
    again, store = home("sqlite")
    with pytest.raises(Invalid, match=f"{name[:12]}.*other bytes"):
        backup.read(tmp_path / "b", again, store)
    with again.read.begin() as session:
        assert catalogue.summaries(session) == []


def _killed(verb: str, place: Path, url: str, store: str, after: int) -> None:
    """In a process of its own, which ends by its own hand after so many files."""

    def told(done: int, total: int) -> None:  # noqa: ARG001
        if done == after:
            os.kill(os.getpid(), signal.SIGKILL)

    database, files = engine.open_url(url), Files(store, Path(store).parent / "cache")
    if verb == "write":
        backup.write(database, files, place, told)
    else:
        backup.read(place, database, files, told)


def killed(verb: str, place: Path, database: Database, files: Files, after: int) -> int | None:
    url = database.engine.url.render_as_string(hide_password=False)
    store = str(files.location("0" * 64)).removesuffix(f"/00/{'0' * 64}")
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_killed, args=(verb, place, url, store, after))
    process.start()
    process.join()
    return process.exitcode


def test_killed_in_the_middle_there_is_no_backup_and_the_next_one_is_whole(
    home: Any, kind: str, tmp_path: Path
) -> None:
    database, files = home(kind)
    filled(database, files)
    assert killed("write", tmp_path / "b", database, files, 2) == -signal.SIGKILL
    assert not (tmp_path / "b").exists()
    assert backup.write(database, files, tmp_path / "b").missing == []


def test_killed_in_the_middle_nothing_was_restored_and_it_can_be_done_again(
    home: Any, kind: str, tmp_path: Path
) -> None:
    database, files = home("sqlite")
    filled(database, files)
    backup.write(database, files, tmp_path / "b")
    again, store = home(kind)
    assert killed("read", tmp_path / "b", again, store, 3) == -signal.SIGKILL
    with again.read.begin() as session:
        assert catalogue.summaries(session) == []
    backup.read(tmp_path / "b", again, store)
    assert rows(again) == rows(database)
