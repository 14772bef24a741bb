"""The worker process: what it does with jobs, with and without trouble."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from backend import apart
from backend.domain import JobState, Wish
from backend.jobs import journal, kinds, presence, queue
from tests.workers import running
from tests.workers.running import House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with running.house(tmp_path) as built:
        yield built


def check(steps: int = 3, seconds: float = 0.05) -> kinds.Check:
    return kinds.Check(project_id=None, steps=steps, seconds=seconds)


def test_a_worker_carries_out_what_waits(house: House) -> None:
    house.start_worker()
    first, second = house.put(check()), house.put(check())
    assert house.until_ended(first).result == {"steps": 3, "resumed_at": 0}
    assert house.until_ended(second).state is JobState.DONE
    house.stop()
    house.until_empty()
    assert not list((house.home / "jobs").iterdir())


def test_a_worker_shows_that_it_lives(house: House) -> None:
    worker = house.start_worker()
    house.until_ended(house.put(check()))
    with house.database.read() as session:
        assert [seen.pid for seen in presence.living(session)] == [worker.pid]
    house.stop()
    with house.database.read() as session:
        assert presence.living(session) == []


def test_a_cancelled_job_ends_long_before_its_last_step(house: House) -> None:
    house.start_worker()
    job = house.put(check(1000))
    house.until_step(job, 3)
    with house.database.write.begin() as session:
        queue.cancel(session, job, "ann")
    assert house.until_ended(job).state is JobState.CANCELLED
    assert house.get(job).progress < 0.5


def test_a_job_leaves_the_processor_to_those_who_answer_people(house: House) -> None:
    worker = house.start_worker()
    house.until_step(house.put(check(1000)), 1)
    (runner,) = (one for one in house.processes() if "workers.runner" in running.line(one))
    assert runner.nice() == psutil.Process(worker.pid).nice() + apart.BEHIND


def test_a_deaf_job_is_killed_when_cancelled(house: House) -> None:
    house.start_worker()
    job = house.put(check(1, 1000.0))
    house.until_step(job, 1)
    with house.database.write.begin() as session:
        queue.cancel(session, job, "ann")
    assert house.until_ended(job).state is JobState.CANCELLED


def test_a_paused_job_goes_on_where_it_was(house: House) -> None:
    house.start_worker()
    job = house.put(check(20, 0.1))
    house.until_step(job, 4)
    with house.database.write.begin() as session:
        assert queue.pause(session, job).wish is Wish.PAUSE
    house.until(job, lambda now: now.state is JobState.PAUSED)
    with house.database.write.begin() as session:
        queue.resume(session, job)
    ended = house.until_ended(job)
    assert ended.state is JobState.DONE
    assert ended.result["resumed_at"] >= 3


def test_a_worker_that_is_stopped_hands_its_job_on(house: House) -> None:
    house.start_worker()
    job = house.put(check(20, 0.1))
    house.until_step(job, 4)
    house.stop()
    waiting = house.get(job)
    assert (waiting.state, waiting.failures) == (JobState.QUEUED, 0)
    house.workers.clear()
    house.start_worker()
    assert house.until_ended(job).result["resumed_at"] >= 3


def test_a_killed_worker_is_replaced_within_seconds(house: House) -> None:
    worker = house.start_worker()
    job = house.put(check(20, 0.1))
    house.until_step(job, 4)
    worker.kill()
    house.start_worker()
    ended = house.until_ended(job)
    assert (ended.state, ended.attempt, ended.failures) == (JobState.DONE, 2, 0)
    assert ended.result["resumed_at"] >= 3


def test_a_killed_job_process_is_forgiven(house: House) -> None:
    worker = house.start_worker()
    job = house.put(check(20, 0.1))
    house.until_step(job, 4)
    for child in psutil.Process(worker.pid).children():
        child.kill()
    ended = house.until_ended(job)
    assert (ended.state, ended.attempt, ended.failures) == (JobState.DONE, 2, 1)
    with house.database.read() as session:
        texts = [event.text for event in journal.read(session, job)]
    assert "Its process was killed (out of memory, perhaps). It is tried again." in texts


def test_a_job_that_cannot_be_done_says_why(house: House) -> None:
    house.start_worker()
    strange = house.put(kinds.Check(project_id=None, steps="many"))  # type: ignore[arg-type]
    error = house.until_ended(strange).error
    assert error.startswith("It stopped unexpectedly with TypeError")
    assert "Traceback" in journal.tail(house.home, strange)


def test_a_frozen_worker_loses_its_job_and_does_no_harm(tmp_path: Path) -> None:
    with running.house(tmp_path, lease=1.5) as house:
        frozen = house.start_worker()
        job = house.put(check(40, 0.1))
        house.until_step(job, 2)
        house.freeze(house.processes())
        house.start_worker()
        house.until(job, lambda now: now.attempt == 2 and now.state is JobState.RUNNING)
        for process in house.processes():
            process.send_signal(signal.SIGCONT)
        ended = house.until_ended(job)
        assert (ended.state, ended.attempt, ended.failures) == (JobState.DONE, 2, 0)
        assert frozen.poll() is None


def test_the_terminal_shows_our_lines_only(house: House, capfd: pytest.CaptureFixture[str]) -> None:
    house.start_worker()
    house.until_ended(house.put(check()))
    house.stop()
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(" after")[0] for line in lines] == [
        "Job 1 begins: Check of the worker.",
        "Job 1: done",
    ]
