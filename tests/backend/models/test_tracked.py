"""What mlflow was not told yet is found among very many runs without reading them all."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import insert

from backend.domain import JobState, Task
from backend.jobs import kinds, queue
from backend.models import tracked
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.tables import TrackedRunRow
from tests.statements import heard

TOLD = {"state": "done", "told_state": "done", "told": 3, "figures": 3}


def told(database: Database, count: int) -> int:
    """A project with so many nested runs of which all was told."""
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", Task.DETECT, ("open",)).id
        rows = [
            {"project_id": project, "name": f"{n}", "mark": f"{n}", **TOLD} for n in range(count)
        ]
        session.execute(insert(TrackedRunRow), rows)
        return project


def waiting(database: Database) -> list[int]:
    with database.read() as session:
        return tracked.waiting(session)


def test_only_what_was_not_told_waits(database: Database) -> None:
    project = told(database, 20)
    with database.write.begin() as session:
        job = queue.enqueue(session, kinds.Check(project)).id
        above = tracked.follow(session, project, job, "above")
        under = tracked.begin(session, project, "under", parent=above)
        tracked.told(session, under, told_state=JobState.RUNNING)
    assert waiting(database) == []

    def then(change: Callable[..., None], *values: object) -> list[int]:
        with database.write.begin() as session:
            change(session, under, *values)
        return waiting(database)

    assert then(tracked.tell, {"loss": 1.0}) == [under]
    with database.write.begin() as session:
        tracked.told(session, under, told=1)
    assert waiting(database) == []
    with database.write.begin() as session:  # the job of its parent ends, and so does it
        queue.cancel(session, job)
    assert waiting(database) == [under]
    assert then(tracked.end, JobState.DONE) == [under]
    with database.write.begin() as session:
        tracked.told(session, under, told_state=JobState.DONE)
    assert waiting(database) == []


def test_runs_of_which_all_was_told_are_not_read(sqlite: Database) -> None:
    told(sqlite, 200)
    with sqlite.read() as session:
        found = asked(sqlite)
        nothing = (0,) * found.count("?")
        plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {found}", nothing)
        assert "tracked_run_open" in str(plan.all())


def asked(database: Database) -> str:
    """The statement by which nested runs are looked for."""
    with heard(database) as statements:
        waiting(database)
    (found,) = [one for one in statements if "coalesce" in one]
    return found
