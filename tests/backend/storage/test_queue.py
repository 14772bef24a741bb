"""The queue's promises, on every database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from backend.domain import Job, JobState, Person, Role, Wish
from backend.errors import Busy, LeaseLost, NotFound, Refused
from backend.jobs import claims, holder, journal, kinds, listing, outlook, queue
from backend.jobs.kinds import Lane
from backend.projects import catalogue, members
from backend.storage import doors
from backend.storage.engine import Database

ANN = "machine-a:1:1"
BOB = "machine-b:2:2"
A_TRY = kinds.Try(None, "golden", path="board.png")


def evaluation(model: int = 1) -> kinds.Evaluate:
    return kinds.Evaluate(project_id=None, model_id=model)


def training() -> kinds.Train:
    return kinds.Train(project_id=None, model_id=1, snapshot_id=1, family="golden")


def put(database: Database, request: kinds.Request, **how: object) -> Job:
    with database.write.begin() as session:
        return queue.enqueue(session, request, **how)  # type: ignore[arg-type]


def take(database: Database, worker: str = ANN, lane: Lane = Lane.SHORT) -> Job | None:
    with database.write.begin() as session:
        return claims.claim(session, worker, lane)


def taken(database: Database, worker: str = ANN, lane: Lane = Lane.SHORT) -> Job:
    job = take(database, worker, lane)
    assert job is not None
    return job


def now_of(database: Database, job: Job) -> Job:
    with database.read() as session:
        return queue.get(session, job.id)


def texts(database: Database, job: Job) -> list[str]:
    with database.read() as session:
        return [event.text for event in journal.read(session, job.id)]


def test_a_job_is_queued_claimed_and_done(database: Database) -> None:
    job = put(database, evaluation(), author="ann")
    assert job.state is JobState.QUEUED
    with database.read() as session:
        assert claims.lanes_waiting(session) == {Lane.SHORT}
    held = taken(database)
    assert (held.id, held.state, held.attempt, held.worker) == (job.id, JobState.RUNNING, 1, ANN)
    with database.write.begin() as session:
        claims.finish(session, held, {"map": 0.5})
    done = now_of(database, job)
    assert (done.state, done.result, done.progress) == (JobState.DONE, {"map": 0.5}, 1.0)
    assert done.started is not None
    assert done.finished is not None
    assert take(database) is None


def test_a_request_comes_back_as_it_was_asked(database: Database) -> None:
    asked = kinds.Detect(project_id=None, family="yolo", source={"images": [1, 2]})
    put(database, asked)
    held = taken(database)
    assert kinds.decode(held.kind, held.request) == asked


def test_lanes_do_not_wait_for_each_other(database: Database) -> None:
    put(database, training())
    assert take(database, lane=Lane.SHORT) is None
    assert taken(database, lane=Lane.LONG).kind == "train"


def test_the_same_key_queues_nothing_twice(database: Database) -> None:
    first = put(database, evaluation(), key="click-1")
    again = put(database, evaluation(), key="click-1")
    assert again.id == first.id


def test_a_key_means_one_thing_of_one_kind_project_and_author(database: Database) -> None:
    with database.write.begin() as session:
        made = [catalogue.create(session, name).id for name in "ab"]
    asked = [
        (evaluation(1), "ana"),
        (evaluation(2), "ben"),
        (training(), "ana"),
        *((replace(evaluation(3 + id_), project_id=id_), "ana") for id_ in made),
    ]
    first = [put(database, one, author=who, key="click-1").id for one, who in asked]
    again = [put(database, one, author=who, key="click-1").id for one, who in asked]
    assert len(set(first)) == len(asked)
    assert again == first


def test_a_double_click_is_refused(database: Database) -> None:
    put(database, evaluation())
    with pytest.raises(Busy, match="already waiting in the queue as job 1"):
        put(database, evaluation())
    put(database, evaluation(model=2))
    taken(database)
    put(database, evaluation())


def test_one_of_two_clicks_at_once_is_refused(database: Database) -> None:
    results = at_once([lambda: put(database, evaluation())] * 4)
    assert sorted(type(result).__name__ for result in results) == ["Busy"] * 3 + ["Job"]


def test_two_dispatchers_never_get_the_same_job(database: Database) -> None:
    for model in range(12):
        put(database, evaluation(model))

    def drain(worker: str) -> list[int]:
        got = []
        while job := take(database, worker):
            got.append(job.id)
        return got

    lists = at_once([lambda: drain(ANN), lambda: drain(BOB)])
    ids = [id for found in lists for id in found]  # type: ignore[attr-defined]
    assert sorted(ids) == list(range(1, 13))


def test_two_trainings_of_a_project_run_one_after_the_other(database: Database) -> None:
    put(database, training())
    first = taken(database, lane=Lane.LONG)
    put(database, training())
    assert at_once([lambda: take(database, BOB, Lane.LONG)] * 3) == [None] * 3
    with database.write.begin() as session:
        claims.finish(session, first, {})
    assert taken(database, BOB, Lane.LONG).id == 2


def test_the_more_urgent_goes_first(database: Database) -> None:
    put(database, evaluation(1))
    put(database, evaluation(2), priority=5)
    assert [taken(database).id, taken(database).id] == [2, 1]


def test_a_job_waits_for_the_one_before_it(database: Database) -> None:
    first = put(database, training())
    then = put(database, evaluation(), after=first.id)
    assert take(database) is None
    held = taken(database, lane=Lane.LONG)
    with database.write.begin() as session:
        claims.finish(session, held, {})
    assert taken(database).id == then.id


def test_a_job_whose_predecessor_failed_says_so(database: Database) -> None:
    first = put(database, training())
    then = put(database, evaluation(), after=first.id)
    with database.write.begin() as session:
        queue.cancel(session, first.id)
    assert take(database) is None
    assert now_of(database, then).error == "It waited for job 1, which was cancelled."


def test_a_worker_that_lost_its_job_is_fenced_off(database: Database) -> None:
    put(database, evaluation())
    old = taken(database, ANN)
    with database.write.begin() as session:
        claims.take_away(session, old, 0, "Its worker is silent.")
    new = taken(database, BOB)
    assert (new.id, new.attempt, new.failures) == (old.id, 2, 0)
    for act in (claims.fence, claims.renew, claims.wish):
        with pytest.raises(LeaseLost), database.write.begin() as session:
            act(session, old)
    with pytest.raises(LeaseLost), database.write.begin() as session:
        claims.finish(session, old, {})
    with database.write.begin() as session:
        claims.fence(session, new)


def test_a_heart_that_beats_keeps_the_job(database: Database) -> None:
    put(database, evaluation())
    held = taken(database)
    with database.write.begin() as session:
        claims.renew(session, held)
        claims.take_away(session, held, 0, "Its worker is silent.")
    assert now_of(database, held).state is JobState.RUNNING


@pytest.mark.parametrize("before", ["queued", "paused"])
def test_a_job_at_rest_is_cancelled_at_once(database: Database, before: str) -> None:
    job = put(database, evaluation())
    with database.write.begin() as session:
        if before == "paused":
            queue.pause(session, job.id)
        assert queue.cancel(session, job.id, "ann").state is JobState.CANCELLED
    assert take(database) is None
    assert texts(database, job)[-1] == "Cancelled by ann while it waited."


def test_a_running_job_is_asked_to_stop(database: Database) -> None:
    put(database, evaluation())
    held = taken(database)
    with database.write.begin() as session:
        assert queue.cancel(session, held.id).wish is Wish.CANCEL
        assert claims.renew(session, held) is Wish.CANCEL
        assert claims.release(session, held, "Stopped.") is JobState.CANCELLED
    assert now_of(database, held).wish is None


def test_a_job_whose_worker_died_while_asked_to_stop_is_cancelled(database: Database) -> None:
    put(database, evaluation())
    held = taken(database)
    with database.write.begin() as session:
        queue.cancel(session, held.id)
        claims.take_away(session, held, 0, "Its worker is dead.")
    assert now_of(database, held).state is JobState.CANCELLED


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_a_job_that_has_ended_cannot_be_cancelled(database: Database, end: str) -> None:
    job = ended(database, end)
    with pytest.raises(Refused, match=f"already {end}"), database.write.begin() as session:
        queue.cancel(session, job.id)


def test_a_paused_job_goes_on_when_resumed(database: Database) -> None:
    put(database, evaluation())
    held = taken(database)
    with database.write.begin() as session:
        queue.pause(session, held.id)
        assert claims.release(session, held, "Stopped.") is JobState.PAUSED
    assert take(database) is None
    with database.write.begin() as session:
        queue.resume(session, held.id)
    assert taken(database).attempt == 2


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_an_ended_job_can_be_tried_again(database: Database, end: str) -> None:
    job = ended(database, end)
    with database.write.begin() as session:
        again = queue.retry(session, job.id, "ann")
    assert (again.state, again.error, again.failures) == (JobState.QUEUED, "", 0)
    with pytest.raises(Busy):
        put(database, evaluation())
    assert taken(database).attempt == 2


def test_a_done_job_is_not_tried_again(database: Database) -> None:
    job = ended(database, "done")
    with pytest.raises(Refused, match="Job 1 is done"), database.write.begin() as session:
        queue.retry(session, job.id)


def test_crashes_are_forgiven_a_few_times(database: Database) -> None:
    put(database, evaluation())
    for _ in range(kinds.find("evaluate").retries):
        with database.write.begin() as session:
            assert claims.forgive(session, held(session), "It crashed.")
    with database.write.begin() as session:
        assert not claims.forgive(session, held(session), "It crashed.")
    with database.read() as session:
        assert queue.get(session, 1).error == "It crashed. It was tried 6 times."


def test_a_lost_lease_while_another_waits_breaks_nothing(database: Database) -> None:
    put(database, training())
    first = taken(database, lane=Lane.LONG)
    put(database, training())
    with database.write.begin() as session:
        claims.release(session, first, "The worker was stopped.")
    assert taken(database, lane=Lane.LONG).id == first.id


def test_progress_and_events_are_kept_in_order(database: Database) -> None:
    put(database, evaluation())
    held = taken(database)
    with database.write.begin() as session:
        claims.progress(session, held, 2.0, "Nearly there")
        journal.write(session, held.id, "Epoch 1", data={"loss": 0.5})
    at_once([lambda: say(database, held)] * 4)
    with database.read() as session:
        events = journal.read(session, held.id, since=2)
    assert [event.seq for event in events] == [3, 4, 5, 6, 7]
    assert events[0].data == {"loss": 0.5}
    assert now_of(database, held).progress == 1.0


def test_a_job_knows_its_place_and_time(database: Database) -> None:
    ended(database, "done")
    for model in (1, 2, 3):
        put(database, evaluation(model))
    with database.read() as session:
        jobs = listing.find(session, states=[JobState.QUEUED])
        standings = [outlook.outlook_of(session, job) for job in reversed(jobs)]
        assert listing.counts(session)[JobState.QUEUED] == 3
    assert [standing.position for standing in standings] == [1, 2, 3]
    assert standings[2].waits is not None
    assert standings[0].behind is None
    held = taken(database)
    with database.read() as session:
        assert outlook.outlook_of(session, jobs[0]).behind == held.id


def test_what_is_usual_is_told_by_the_family(database: Database) -> None:
    def train(model: int, family: str) -> Job:
        put(database, replace(training(), model_id=model, family=family))
        return taken(database, lane=Lane.LONG)

    for model, family in ((1, "golden"), (2, "yolo")):
        job = train(model, family)
        with database.write.begin() as session:
            assert outlook.outlook_of(session, job).needs is None
            claims.finish(session, job, {})
    job = train(3, "yolo")
    with database.read() as session:
        assert outlook.outlook_of(session, job).needs is not None


def test_a_job_that_goes_on_is_foreseen_by_what_is_left_of_it(database: Database) -> None:
    put(database, training())
    job = taken(database, lane=Lane.LONG)
    with database.write.begin() as session:
        claims.progress(session, job, 0.9, "Epoch 9")
        claims.release(session, job, "The worker ends.")
    job = taken(database, lane=Lane.LONG)
    with database.write.begin() as session:
        assert outlook.outlook_of(session, job).needs is None  # not a ninth of a moment
        claims.finish(session, job, {})
    put(database, replace(training(), model_id=2))
    with database.read() as session:
        (waiting,) = listing.find(session, states=[JobState.QUEUED])
        assert outlook.outlook_of(session, waiting).needs is None  # half a job says nothing


def test_jobs_are_listed_by_what_one_looks_for(database: Database) -> None:
    put(database, evaluation(1), author="ann")
    put(database, training(), author="bob")
    with database.read() as session:
        assert [job.id for job in listing.find(session)] == [2, 1]
        assert [job.id for job in listing.find(session, author="ann")] == [1]
        assert [job.id for job in listing.find(session, kind="train")] == [2]
        assert [job.id for job in listing.find(session, before=2)] == [1]


def test_tries_are_listed_and_counted_only_where_they_are_asked_for(database: Database) -> None:
    put(database, evaluation(1))
    tried = put(database, A_TRY)
    with database.read() as session:
        assert [job.id for job in listing.find(session)] == [1]
        assert listing.counts(session)[JobState.QUEUED] == 1
        assert [job.id for job in listing.find(session, kind="try")] == [tried.id]


def test_tries_take_no_numbers_from_what_people_call_by_theirs(database: Database) -> None:
    first = put(database, evaluation(1))
    tries = [put(database, A_TRY, priority=1) for _ in range(3)]
    assert put(database, evaluation(2)).id == first.id + 1
    assert all(one.id < 0 for one in tries)
    order = [taken(database, lane=Lane.INSTANT).id for _ in tries]
    assert order == [one.id for one in tries]
    with database.read() as session:
        assert [job.id for job in listing.find(session, kind="try")] == order[::-1]


def test_tries_of_a_moment_are_each_their_own(database: Database) -> None:
    starts = threading.Barrier(8)

    def look() -> int:
        starts.wait()
        return put(database, A_TRY).id

    with ThreadPoolExecutor(8) as people:
        numbers = [future.result() for future in [people.submit(look) for _ in range(8)]]
    assert len(set(numbers)) == 8


def test_a_try_in_a_shut_project_keeps_nobody_else_from_trying(database: Database) -> None:
    with database.write.begin() as session:
        shut = catalogue.create(session, "shut").id
        members.choose(session, shut, [])
    mine = put(database, kinds.Try(shut, "golden", path="a.png"))
    bob = doors.asked_by(Person("bob", Role.LABELER))
    with database.write(info=bob) as session, session.begin():
        theirs = queue.enqueue(session, A_TRY, author="bob")
    assert theirs.id == mine.id + 1


def test_an_unknown_job_is_named(database: Database) -> None:
    with pytest.raises(NotFound, match="no job 77"), database.read() as session:
        queue.get(session, 77)


def test_a_dead_process_of_this_machine_is_recognised() -> None:
    assert not holder.gone(holder.me())
    assert holder.gone(holder.me() + "0")
    assert not holder.gone("elsewhere:1:1")


def ended(database: Database, end: str) -> Job:
    put(database, evaluation())
    held = taken(database)
    with database.write.begin() as session:
        if end == "done":
            claims.finish(session, held, {})
        elif end == "failed":
            claims.fail(session, held, "No pictures.")
        else:
            queue.cancel(session, held.id)
            claims.release(session, held, "Stopped.")
    return replace(held, state=JobState(end))


def held(session: object) -> Job:
    job = claims.claim(session, ANN, Lane.SHORT)  # type: ignore[arg-type]
    assert job is not None
    return job


def say(database: Database, job: Job) -> None:
    with database.write.begin() as session:
        journal.write(session, job.id, "Another")


def at_once(acts: list[Callable[[], object]]) -> list[object]:
    """What each act gives (or raises) when all begin in the same moment."""
    results: list[object] = [None] * len(acts)
    barrier = threading.Barrier(len(acts))

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = acts[number]()
        except Busy as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
