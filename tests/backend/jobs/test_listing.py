"""What lists of jobs and those who wait are told, on every database."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from backend.domain import Job, JobState, Person, Role
from backend.jobs import claims, kinds, listing, outlook, queue
from backend.jobs.lanes import Lane
from backend.projects import catalogue, members
from backend.storage import doors
from backend.storage.engine import Database
from tests.backend.jobs import queued


def test_a_job_knows_its_place_and_time(database: Database) -> None:
    queued.ended(database, "done")
    for model in (1, 2, 3):
        queued.put(database, queued.evaluation(model))
    with database.read() as session:
        jobs = listing.find(session, states=[JobState.QUEUED])
        standings = [outlook.outlook_of(session, job) for job in reversed(jobs)]
        assert listing.counts(session)[JobState.QUEUED] == 3
    assert [standing.position for standing in standings] == [1, 2, 3]
    assert standings[2].waits is not None
    assert standings[0].behind is None
    held = queued.taken(database)
    with database.read() as session:
        assert outlook.outlook_of(session, jobs[0]).behind == held.id


def test_what_is_usual_is_told_by_the_family(database: Database) -> None:
    def train(model: int, family: str) -> Job:
        queued.put(database, replace(queued.training(), model_id=model, family=family))
        return queued.taken(database, lane=Lane.LONG)

    for model, family in ((1, "golden"), (2, "yolo")):
        job = train(model, family)
        with database.write.begin() as session:
            assert outlook.outlook_of(session, job).needs is None
            claims.finish(session, job, {})
    job = train(3, "yolo")
    with database.read() as session:
        assert outlook.outlook_of(session, job).needs is not None


def test_a_job_that_goes_on_is_foreseen_by_what_is_left_of_it(database: Database) -> None:
    queued.put(database, queued.training())
    job = queued.taken(database, lane=Lane.LONG)
    with database.write.begin() as session:
        claims.progress(session, job, 0.9, "Epoch 9")
        claims.release(session, job, "The worker ends.")
    job = queued.taken(database, lane=Lane.LONG)
    with database.write.begin() as session:
        assert outlook.outlook_of(session, job).needs is None  # not a ninth of a moment
        claims.finish(session, job, {})
    queued.put(database, replace(queued.training(), model_id=2))
    with database.read() as session:
        (waiting,) = listing.find(session, states=[JobState.QUEUED])
        assert outlook.outlook_of(session, waiting).needs is None  # half a job says nothing


def test_jobs_are_listed_by_what_one_looks_for(database: Database) -> None:
    queued.put(database, queued.evaluation(1), author="ann")
    queued.put(database, queued.training(), author="bob")
    with database.read() as session:
        assert [job.id for job in listing.find(session)] == [2, 1]
        assert [job.id for job in listing.find(session, author="ann")] == [1]
        assert [job.id for job in listing.find(session, kind="train")] == [2]
        assert [job.id for job in listing.find(session, before=2)] == [1]


def test_tries_are_listed_and_counted_only_where_they_are_asked_for(database: Database) -> None:
    queued.put(database, queued.evaluation(1))
    tried = queued.put(database, queued.A_TRY)
    with database.read() as session:
        assert [job.id for job in listing.find(session)] == [1]
        assert listing.counts(session)[JobState.QUEUED] == 1
        assert [job.id for job in listing.find(session, kind="try")] == [tried.id]


def test_tries_take_no_numbers_from_what_people_call_by_theirs(database: Database) -> None:
    first = queued.put(database, queued.evaluation(1))
    tries = [queued.put(database, queued.A_TRY, priority=1) for _ in range(3)]
    assert queued.put(database, queued.evaluation(2)).id == first.id + 1
    assert all(one.id < 0 for one in tries)
    order = [queued.taken(database, lane=Lane.INSTANT).id for _ in tries]
    assert order == [one.id for one in tries]
    with database.read() as session:
        assert [job.id for job in listing.find(session, kind="try")] == order[::-1]


def test_tries_of_a_moment_are_each_their_own(database: Database) -> None:
    starts = threading.Barrier(8)

    def look() -> int:
        starts.wait()
        return queued.put(database, queued.A_TRY).id

    with ThreadPoolExecutor(8) as people:
        numbers = [future.result() for future in [people.submit(look) for _ in range(8)]]
    assert len(set(numbers)) == 8


def test_a_try_in_a_shut_project_keeps_nobody_else_from_trying(database: Database) -> None:
    with database.write.begin() as session:
        shut = catalogue.create(session, "shut").id
        members.choose(session, shut, [])
    mine = queued.put(database, kinds.Try(shut, "golden", path="a.png"))
    bob = doors.asked_by(Person("bob", Role.LABELER))
    with database.write(info=bob) as session, session.begin():
        theirs = queue.enqueue(session, queued.A_TRY, author="bob")
    assert theirs.id == mine.id + 1
