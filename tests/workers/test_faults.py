"""What may go wrong around a worker, done on purpose: each job still ends exactly once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from backend.domain import JobState
from backend.jobs import journal, kinds, queue
from backend.labels import samples
from backend.models import trainings
from backend.storage.files import Files
from tests.workers import running
from tests.workers.running import House

# A machine whose clock is wrong by as many seconds as its first argument says.
WRONG_CLOCK = """
import datetime, sys
off = datetime.timedelta(seconds=float(sys.argv.pop(1)))
from backend.storage import types
right = types.now
types.now = lambda: right() + off
from workers.__main__ import main
main()
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with running.house(tmp_path) as built:
        yield built


def check(steps: int, seconds: float = 0.1, cluster: bool = False) -> kinds.Check:
    return kinds.Check(project_id=None, steps=steps, seconds=seconds, cluster=cluster)


def start(house: House, *command: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **house.environment()}
    process = subprocess.Popen([sys.executable, "-c", *command], env=environment)
    house.workers.append(process)
    return process


def ends(house: House, job: int) -> int:
    """How often a job has said that it is done."""
    with house.database.read() as session:
        return [event.text for event in journal.read(session, job)].count("Done.")


def test_two_workers_share_a_queue(house: House) -> None:
    jobs = [house.put(check(2)) for _ in range(8)]
    house.start_worker()
    house.start_worker()
    ended = [house.until_ended(job) for job in jobs]
    assert [(job.state, job.attempt) for job in ended] == [(JobState.DONE, 1)] * 8
    assert len({job.worker for job in ended}) == 2
    assert [ends(house, job) for job in jobs] == [1] * 8


@pytest.mark.again
def test_clocks_ten_minutes_apart_do_not_matter(tmp_path: Path) -> None:
    with running.house(tmp_path, lease=2.0) as house:
        fast = start(house, WRONG_CLOCK, "300")
        start(house, WRONG_CLOCK, "-300")
        jobs = [house.put(check(10, 0.4)) for _ in range(2)]
        ended = [house.until_ended(job) for job in jobs]
        assert [(job.state, job.attempt) for job in ended] == [(JobState.DONE, 1)] * 2
        jobs = [house.put(check(20, 0.2)) for _ in range(2)]
        for job in jobs:
            house.until_step(job, 1)
        house.freeze([psutil.Process(fast.pid), *psutil.Process(fast.pid).children()])
        ended = [house.until_ended(job) for job in jobs]
        assert sorted(job.attempt for job in ended) == [1, 2]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("A small disk cannot be mounted without the rights of root.")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_is_told_plainly_and_harms_no_checkpoint(
    small_disk: Path, tmp_path: Path
) -> None:
    with running.house(tmp_path) as house:
        house.start_worker(LOUPE_HOME=str(small_disk), LOUPE_DATABASE_URL=house.url)
        job = house.put(check(30))
        house.until_step(job, 4)
        with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(1024))
        failed = house.until_ended(job)
        assert failed.error.startswith("The disk is full")
        assert int((small_disk / "jobs" / str(job) / "steps").read_text()) >= 3
        (small_disk / "filler").unlink()
        with house.database.write.begin() as session:
            queue.retry(session, job)
        ended = house.until_ended(job)
        assert (ended.state, ended.result["steps"]) == (JobState.DONE, 30)
        assert ended.result["resumed_at"] >= 3


def test_a_training_killed_in_its_second_epoch_goes_on_there(house: House) -> None:
    job = start_yolo(house, epochs=4)
    house.start_worker()
    house.until(job, lambda _: epochs(house, job)[-1:] == [2])
    for process in house.processes():
        process.kill()
    house.start_worker()
    ended = house.until_ended(job)
    assert (ended.state, ended.error, ended.attempt) == (JobState.DONE, "", 2)
    told = epochs(house, job)
    assert sorted(set(told)) == [1, 2, 3, 4]
    assert told.count(1) == 1


def start_yolo(house: House, epochs: int) -> int:
    files = Files(str(house.home / "files"), house.home / "cache")
    drawn = samples.draw(files, "pcb", 9, seed=5)
    parameters = {"epochs": epochs, "image_size": 96, "batch": 2}
    with house.database.write.begin() as session:
        project = samples.create(session, "boards", "pcb", drawn)
        started = trainings.retrain(
            session, project.id, "yolo", start="scratch", parameters=parameters, seed=1
        )
    return started.job.id


def epochs(house: House, job: int) -> list[int]:
    """The epochs that were told, in order."""
    with house.database.read() as session:
        return [e.data["epoch"] for e in journal.read(session, job) if "epoch" in e.data]
