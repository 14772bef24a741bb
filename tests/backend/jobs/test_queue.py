"""The queue's promises, on every database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.domain import JobState, Wish
from backend.errors import Busy, LeaseLost, NotFound, Refused
from backend.jobs import claims, holder, journal, kinds, queue
from backend.jobs.lanes import Lane
from backend.projects import catalogue
from backend.storage.engine import Database
from tests.backend.jobs import queued


def test_a_job_is_queued_claimed_and_done(database: Database) -> None:
    job = queued.put(database, queued.evaluation(), author="ann")
    assert job.state is JobState.QUEUED
    with database.read() as session:
        assert claims.lanes_waiting(session) == {Lane.SHORT}
    held = queued.taken(database)
    assert (held.id, held.state, held.attempt, held.worker) == (
        job.id,
        JobState.RUNNING,
        1,
        queued.ANN,
    )
    with database.write.begin() as session:
        claims.finish(session, held, {"map": 0.5})
    done = queued.now_of(database, job)
    assert (done.state, done.result, done.progress) == (JobState.DONE, {"map": 0.5}, 1.0)
    assert done.started is not None
    assert done.finished is not None
    assert queued.take(database) is None


def test_a_request_comes_back_as_it_was_asked(database: Database) -> None:
    asked = kinds.Detect(project_id=None, family="yolo", source={"images": [1, 2]})
    queued.put(database, asked)
    held = queued.taken(database)
    assert kinds.decode(held.kind, held.request) == asked


def test_lanes_do_not_wait_for_each_other(database: Database) -> None:
    queued.put(database, queued.training())
    assert queued.take(database, lane=Lane.SHORT) is None
    assert queued.taken(database, lane=Lane.LONG).kind == "train"


def test_the_same_key_queues_nothing_twice(database: Database) -> None:
    first = queued.put(database, queued.evaluation(), key="click-1")
    again = queued.put(database, queued.evaluation(), key="click-1")
    assert again.id == first.id


def test_a_key_means_one_thing_of_one_kind_project_and_author(database: Database) -> None:
    with database.write.begin() as session:
        made = [catalogue.create(session, name).id for name in "ab"]
    asked = [
        (queued.evaluation(1), "ana"),
        (queued.evaluation(2), "ben"),
        (queued.training(), "ana"),
        *((replace(queued.evaluation(3 + id_), project_id=id_), "ana") for id_ in made),
    ]
    first = [queued.put(database, one, author=who, key="click-1").id for one, who in asked]
    again = [queued.put(database, one, author=who, key="click-1").id for one, who in asked]
    assert len(set(first)) == len(asked)
    assert again == first


def test_a_double_click_is_refused(database: Database) -> None:
    queued.put(database, queued.evaluation())
    with pytest.raises(Busy, match="already waiting in the queue as job 1"):
        queued.put(database, queued.evaluation())
    queued.put(database, queued.evaluation(model=2))
    queued.taken(database)
    queued.put(database, queued.evaluation())


def test_one_of_two_clicks_at_once_is_refused(database: Database) -> None:
    results = queued.at_once([lambda: queued.put(database, queued.evaluation())] * 4)
    assert sorted(type(result).__name__ for result in results) == ["Busy"] * 3 + ["Job"]


def test_two_dispatchers_never_get_the_same_job(database: Database) -> None:
    for model in range(12):
        queued.put(database, queued.evaluation(model))

    def drain(worker: str) -> list[int]:
        got = []
        while job := queued.take(database, worker):
            got.append(job.id)
        return got

    lists = queued.at_once([lambda: drain(queued.ANN), lambda: drain(queued.BOB)])
    ids = [id for found in lists for id in found]  # type: ignore[attr-defined]
    assert sorted(ids) == list(range(1, 13))


def test_two_trainings_of_a_project_run_one_after_the_other(database: Database) -> None:
    queued.put(database, queued.training())
    first = queued.taken(database, lane=Lane.LONG)
    queued.put(database, queued.training())
    assert queued.at_once([lambda: queued.take(database, queued.BOB, Lane.LONG)] * 3) == [None] * 3
    with database.write.begin() as session:
        claims.finish(session, first, {})
    assert queued.taken(database, queued.BOB, Lane.LONG).id == 2


def test_the_more_urgent_goes_first(database: Database) -> None:
    queued.put(database, queued.evaluation(1))
    queued.put(database, queued.evaluation(2), priority=5)
    assert [queued.taken(database).id, queued.taken(database).id] == [2, 1]


def test_a_job_waits_for_the_one_before_it(database: Database) -> None:
    first = queued.put(database, queued.training())
    then = queued.put(database, queued.evaluation(), after=first.id)
    assert queued.take(database) is None
    held = queued.taken(database, lane=Lane.LONG)
    with database.write.begin() as session:
        claims.finish(session, held, {})
    assert queued.taken(database).id == then.id


def test_a_job_whose_predecessor_failed_says_so(database: Database) -> None:
    first = queued.put(database, queued.training())
    then = queued.put(database, queued.evaluation(), after=first.id)
    with database.write.begin() as session:
        queue.cancel(session, first.id)
    assert queued.take(database) is None
    assert queued.now_of(database, then).error == "It waited for job 1, which was cancelled."


def test_a_worker_that_lost_its_job_is_fenced_off(database: Database) -> None:
    queued.put(database, queued.evaluation())
    old = queued.taken(database, queued.ANN)
    with database.write.begin() as session:
        claims.take_away(session, old, 0, "Its worker is silent.")
    new = queued.taken(database, queued.BOB)
    assert (new.id, new.attempt, new.failures) == (old.id, 2, 0)
    for act in (claims.fence, claims.renew, claims.wish):
        with pytest.raises(LeaseLost), database.write.begin() as session:
            act(session, old)
    with pytest.raises(LeaseLost), database.write.begin() as session:
        claims.finish(session, old, {})
    with database.write.begin() as session:
        claims.fence(session, new)


def test_a_heart_that_beats_keeps_the_job(database: Database) -> None:
    queued.put(database, queued.evaluation())
    held = queued.taken(database)
    with database.write.begin() as session:
        claims.renew(session, held)
        claims.take_away(session, held, 0, "Its worker is silent.")
    assert queued.now_of(database, held).state is JobState.RUNNING


@pytest.mark.parametrize("before", ["queued", "paused"])
def test_a_job_at_rest_is_cancelled_at_once(database: Database, before: str) -> None:
    job = queued.put(database, queued.evaluation())
    with database.write.begin() as session:
        if before == "paused":
            queue.pause(session, job.id)
        assert queue.cancel(session, job.id, "ann").state is JobState.CANCELLED
    assert queued.take(database) is None
    assert queued.texts(database, job)[-1] == "Cancelled by ann while it waited."


def test_a_running_job_is_asked_to_stop(database: Database) -> None:
    queued.put(database, queued.evaluation())
    held = queued.taken(database)
    with database.write.begin() as session:
        assert queue.cancel(session, held.id).wish is Wish.CANCEL
        assert claims.renew(session, held) is Wish.CANCEL
        assert claims.release(session, held, "Stopped.") is JobState.CANCELLED
    assert queued.now_of(database, held).wish is None


def test_a_job_whose_worker_died_while_asked_to_stop_is_cancelled(database: Database) -> None:
    queued.put(database, queued.evaluation())
    held = queued.taken(database)
    with database.write.begin() as session:
        queue.cancel(session, held.id)
        claims.take_away(session, held, 0, "Its worker is dead.")
    assert queued.now_of(database, held).state is JobState.CANCELLED


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_a_job_that_has_ended_cannot_be_cancelled(database: Database, end: str) -> None:
    job = queued.ended(database, end)
    with pytest.raises(Refused, match=f"already {end}"), database.write.begin() as session:
        queue.cancel(session, job.id)


def test_a_paused_job_goes_on_when_resumed(database: Database) -> None:
    queued.put(database, queued.evaluation())
    held = queued.taken(database)
    with database.write.begin() as session:
        queue.pause(session, held.id)
        assert claims.release(session, held, "Stopped.") is JobState.PAUSED
    assert queued.take(database) is None
    with database.write.begin() as session:
        queue.resume(session, held.id)
    assert queued.taken(database).attempt == 2


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_an_ended_job_can_be_tried_again(database: Database, end: str) -> None:
    job = queued.ended(database, end)
    with database.write.begin() as session:
        again = queue.retry(session, job.id, "ann")
    assert (again.state, again.error, again.failures) == (JobState.QUEUED, "", 0)
    with pytest.raises(Busy):
        queued.put(database, queued.evaluation())
    assert queued.taken(database).attempt == 2


def test_a_done_job_is_not_tried_again(database: Database) -> None:
    job = queued.ended(database, "done")
    with pytest.raises(Refused, match="Job 1 is done"), database.write.begin() as session:
        queue.retry(session, job.id)


def test_crashes_are_forgiven_a_few_times(database: Database) -> None:
    queued.put(database, queued.evaluation())
    for _ in range(kinds.find("evaluate").retries):
        with database.write.begin() as session:
            assert claims.forgive(session, queued.held(session), "It crashed.")
    with database.write.begin() as session:
        assert not claims.forgive(session, queued.held(session), "It crashed.")
    with database.read() as session:
        assert queue.get(session, 1).error == "It crashed. It was tried 6 times."


def test_a_lost_lease_while_another_waits_breaks_nothing(database: Database) -> None:
    queued.put(database, queued.training())
    first = queued.taken(database, lane=Lane.LONG)
    queued.put(database, queued.training())
    with database.write.begin() as session:
        claims.release(session, first, "The worker was stopped.")
    assert queued.taken(database, lane=Lane.LONG).id == first.id


def test_progress_and_events_are_kept_in_order(database: Database) -> None:
    queued.put(database, queued.evaluation())
    held = queued.taken(database)
    with database.write.begin() as session:
        claims.progress(session, held, 2.0, "Nearly there")
        journal.write(session, held.id, "Epoch 1", data={"loss": 0.5})
    queued.at_once([lambda: queued.say(database, held)] * 4)
    with database.read() as session:
        events = journal.read(session, held.id, since=2)
    assert [event.seq for event in events] == [3, 4, 5, 6, 7]
    assert events[0].data == {"loss": 0.5}
    assert queued.now_of(database, held).progress == 1.0


def test_an_unknown_job_is_named(database: Database) -> None:
    with pytest.raises(NotFound, match="no job 77"), database.read() as session:
        queue.get(session, 77)


def test_a_dead_process_of_this_machine_is_recognised() -> None:
    assert not holder.gone(holder.me())
    assert holder.gone(holder.me() + "0")
    assert not holder.gone("elsewhere:1:1")
