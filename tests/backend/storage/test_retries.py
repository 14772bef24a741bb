"""Long work whose turn to write does not come asks again, and does nothing twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.domain import Box
from backend.errors import Refused, Unavailable
from backend.labels import class_retirement, images
from backend.labels.images import NewImage
from backend.projects import catalogue, class_merge, classes
from backend.storage.engine import Database
from backend.storage.writers import retries

SPUR = Box(1.0, 1.0, 5.0, 5.0, "spur")
Work = Callable[[Database, retries.Begin], None]


@pytest.fixture
def hasty(sqlite: Database) -> Database:
    """A database that waits for no other program; its project has an image with a spur."""
    event.listen(sqlite.engine, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout=1"))
    sqlite.engine.dispose()
    with sqlite.write.begin() as session:
        project = catalogue.create(session, "line", classes=["spur", "open"]).id
        images.add(session, project, [NewImage("a", "0" * 64, 9, 9, (SPUR,), labelled=True)], "ana")
    return sqlite


@contextmanager
def locked(database: Database, tries: int) -> Iterator[retries.Begin]:
    """How to begin while another program holds the database, which it lets go at that try."""
    tried = []
    path = str(database.engine.url.database)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        @contextmanager
        def begin() -> Iterator[Session]:
            tried.append(1)
            if len(tried) == tries:
                other.execute("ROLLBACK")
            with database.write.begin() as session:
                yield session

        yield begin


def merge(database: Database, begin: retries.Begin) -> None:
    with database.read.begin() as session:
        project = catalogue.find(session, "line")
    spur, opened = (one.id for one in project.classes)
    class_merge.merge(database.read.begin, retries.patient(begin), project.id, spur, opened)


def retire(database: Database, begin: retries.Begin) -> None:
    with database.read.begin() as session:
        project = catalogue.find(session, "line")
    class_retirement.retire(begin, project.classes[0].id, "ana")


@pytest.mark.parametrize("work", [merge, retire])
def test_a_class_goes_also_where_another_program_has_long_written(
    hasty: Database, work: Work
) -> None:
    with locked(hasty, retries.TRIES) as begin:
        work(hasty, begin)
    with hasty.read.begin() as session:
        project = catalogue.find(session, "line")
        assert [one.name for one in classes.of(session, project.id)] == ["open"]


def test_who_has_waited_often_enough_is_told(hasty: Database) -> None:
    with (
        locked(hasty, retries.TRIES + 1) as begin,
        pytest.raises(OperationalError, match="locked"),
    ):
        retire(hasty, begin)


@pytest.mark.parametrize("kind", [Refused, Unavailable])
def test_what_fails_once_it_has_begun_is_not_done_again(
    database: Database, kind: type[Exception]
) -> None:
    done = []

    def fail() -> None:
        with retries.patient(database.write.begin)() as session:
            catalogue.create(session, "line")
            done.append(1)
            raise kind

    with pytest.raises(kind):
        fail()
    with database.read.begin() as session:
        assert (done, catalogue.known(session, "line")) == ([1], False)


def test_a_turn_that_did_not_come_in_time_is_asked_for_again(database: Database) -> None:
    turns = iter([Unavailable("The database was busy."), Unavailable("It still was."), None])

    @contextmanager
    def begin() -> Iterator[Session]:
        if (late := next(turns)) is not None:
            raise late
        with database.write.begin() as session:
            yield session

    with retries.patient(begin)() as session:
        catalogue.create(session, "line")
    with database.read.begin() as session:
        assert catalogue.known(session, "line")
