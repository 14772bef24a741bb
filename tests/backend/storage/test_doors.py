"""In a session of a person, what is in a shut project is not there, whatever asks for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, exists, func, literal, select, text, update
from sqlalchemy.orm import Session, aliased

import backend
from backend.domain import Bearer, Box, DetectionRef, Job, Person, Role
from backend.errors import NotFound
from backend.jobs import kinds, listing, outlook, queue
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, members, people
from backend.review import provenance
from backend.storage import doors
from backend.storage.engine import Database
from backend.storage.tables import Base, ImageRow
from tests.homes.everything import CLASS, Things, furnish

LARS, ADA = Person("lars", Role.LABELER), Person("ada", Role.ADMIN)
TABLES = list(doors.LEADING)
# Asked from the command line alone.
ROOMS = ("projects", "labels", "models", "runs", "review", "upkeep", "jobs")
OWNERS = {"backup.py", "checks.py"}
HOUSE = Path(backend.__file__).parents[1]


@pytest.fixture
def shut(database: Database) -> Things:
    """All that a project may have, in one that nobody but admins may enter."""
    with database.write.begin() as session:
        project = catalogue.create(session, "secret")
        images.add(session, project.id, [NewImage("a", "a" * 64, 99, 99)], "ana")
        members.choose(session, project.id, [])
        return furnish(session, project.id, project.name)


@pytest.fixture
def lars(database: Database, shut: Things) -> Iterator[Session]:
    """A session of one who may not enter it."""
    assert shut.project
    with database.write(info=doors.asked_by(LARS)) as session, session.begin():
        yield session


def of(table: Any) -> Any:
    """A column of a table's key."""
    return getattr(table, table.__mapper__.primary_key[0].key)


def test_every_table_leads_to_a_project_or_to_none() -> None:
    mapped = {mapper.class_ for mapper in Base.registry.mappers}
    assert mapped == {*doors.LEADING, *doors.APART}


def test_the_owner_and_admins_see_rows_of_every_table(database: Database, shut: Things) -> None:
    assert shut.project
    for person in (None, ADA):
        with database.read(info=doors.asked_by(person)) as session:
            empty = [table for table in TABLES if not session.execute(select(table)).first()]
            assert not empty, person


def test_no_query_finds_what_is_shut(lars: Session) -> None:
    for table in TABLES:
        other, inner = aliased(table), select(of(table)).subquery()
        queries = (
            select(table),
            select(of(table)),
            select(other),
            select(inner),
            select(other, table).join(table, literal(True)),
            select(of(table)).union(select(of(other))),
            select(of(table)).where(exists().where(of(other) == of(table))),
        )
        assert not [str(query) for query in queries if lars.execute(query).first()]
        assert lars.scalar(select(func.count()).select_from(table)) == 0
        assert lars.scalar(select(select(of(table)).exists())) is False


def test_an_outer_join_shows_nothing_of_what_is_shut(database: Database, shut: Things) -> None:
    with database.write(info=doors.asked_by(LARS)) as session, session.begin():
        ours = catalogue.create(session, "open")
        images.add(session, ours.id, [NewImage("b", "b" * 64, 99, 99)], "ana")
        secret = aliased(ImageRow)
        query: Any = select(secret.name).select_from(ImageRow)
        query = query.outerjoin(secret, secret.id == shut.images[0])
        assert session.execute(query).scalar_one() is None


def test_nothing_that_is_shut_is_fetched_by_its_key(
    database: Database, shut: Things, lars: Session
) -> None:
    assert shut.project
    with database.read.begin() as session:
        rows = [session.scalars(select(table)).first() for table in TABLES]
        keys = [(type(row), row.__mapper__.primary_key_from_instance(row)) for row in rows if row]
    assert len(keys) == len(TABLES)
    assert not [table for table, key in keys if lars.get(table, tuple(key))]


def test_nothing_that_is_shut_is_changed_or_deleted(lars: Session) -> None:
    for table in TABLES:
        column = next(one for one in table.__table__.columns if not one.foreign_keys)
        same = {column.name: column}
        changed: Any = lars.execute(
            update(table).values(same), execution_options={"synchronize_session": False}
        )
        gone: Any = lars.execute(delete(table), execution_options={"synchronize_session": False})
        assert (changed.rowcount, gone.rowcount) == (0, 0), table


def test_what_cannot_be_filtered_is_refused(lars: Session) -> None:
    for query in (text("SELECT * FROM image"), select(Base.metadata.tables["image"])):
        with pytest.raises(TypeError, match="cannot be filtered"):
            lars.execute(query)


def test_who_is_a_member_finds_all(database: Database, shut: Things) -> None:
    with database.write.begin() as session:
        people.add(session, LARS.name, LARS.role, "correct horse")
        members.choose(session, shut.project, [LARS.name])
    with database.read(info=doors.asked_by(LARS)) as session:
        assert [table for table in TABLES if not session.execute(select(table)).first()] == []


def test_of_an_older_box_why_says_nothing_of_the_shut_run_that_it_names(
    database: Database, shut: Things
) -> None:
    with database.write.begin() as session:
        ours = catalogue.create(session, "open", classes=[CLASS])
        images.add(session, ours.id, [NewImage("b", "b" * 64, 99, 99)], "ana")
        image = images.find(session, ours.id, "b").id
        ref = DetectionRef(shut.run, shut.images[0], 0)
        box = Box(4.0, 4.0, 20.0, 20.0, CLASS, id="d" * 32, detection=ref)
        labelling.save(session, image, 0, [box], "ana")
    for person, told in ((ADA, True), (LARS, False)):
        with database.read(info=doors.asked_by(person)) as session:
            chain = {link.what for link in provenance.why(session, f"{image}:{'d' * 32}")}
        assert ({"Detection", "Run"} <= chain, "Label" in chain) == (told, True), person
        assert told or chain.isdisjoint({"Detection", "Run", "Model", "Decision"})


def command_line_job(session: Session, author: str) -> Job:
    request = kinds.Detect(None, "golden", source={"path": f"/lots/{author}"})
    return queue.enqueue(session, request, author=author)


def test_a_job_without_a_project_is_its_authors_and_the_admins(database: Database) -> None:
    with database.write.begin() as session:
        hers, his = (command_line_job(session, name).id for name in ("vera", LARS.name))
    with database.write(info=doors.asked_by(LARS)) as session, session.begin():
        assert [one.id for one in listing.find(session)] == [his]
        assert queue.cancel(session, his).id == his
        with pytest.raises(NotFound, match=f"There is no job {hers}"):
            queue.cancel(session, hers)
    with database.write(info=doors.asked_by(ADA)) as session, session.begin():
        assert queue.cancel(session, hers).id == hers


def test_a_token_for_some_projects_finds_no_job_without_one(database: Database) -> None:
    with database.write.begin() as session:
        named = catalogue.create(session, "boards").id
        found = {command_line_job(session, author).id for author in (LARS.name, "")}
    of_all = Bearer(LARS.name, LARS.role, 1, LARS.role)
    for rank, of_one in product((Role.LABELER, Role.ADMIN), (frozenset({named}), frozenset[int]())):
        narrow = Bearer(LARS.name, rank, 1, rank, of_one)
        with database.read(info=doors.asked_by(narrow)) as session:
            assert listing.find(session) == []
            for job in found:
                with pytest.raises(NotFound):
                    queue.get(session, job)
    with database.read(info=doors.asked_by(of_all)) as session:
        assert len(listing.find(session)) == 1


def test_a_place_in_the_queue_counts_the_jobs_that_are_shut(
    database: Database, shut: Things
) -> None:
    assert shut.job
    with database.write(info=doors.asked_by(LARS)) as session, session.begin():
        place = outlook.outlook_of(session, command_line_job(session, LARS.name))
    assert (place.position, place.behind) == (2, None)


def names(file: Path) -> set[str]:
    """Every attribute that a module asks something for."""
    tree = ast.parse(file.read_text("utf-8"))
    return {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}


def test_no_route_and_no_service_goes_around_the_doors() -> None:
    routes = {
        file.name for file in (HOUSE / "app/routes").rglob("*.py") if "database" in names(file)
    }
    assert routes == set()
    modules = [file for room in ROOMS for file in (HOUSE / "backend" / room).glob("*.py")]
    assert {file.name for file in modules if "of_all" in names(file)} == {
        "changes.py",
        "outlook.py",
        "queue.py",  # numbers that nobody reads
    }
    assert {file.name for file in modules if "connection" in names(file)} <= OWNERS
