"""A command that waits for its job never waits for nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain import JobState
from backend.jobs import kinds, presence, queue
from tests.workers import running
from tests.workers.running import House

STARTS = "No worker is alive; one starts"
COMMAND = """
import sys
from app.commands import tools
from app.commands.jobs import waiting
from backend.jobs import queue
with tools.open_tools() as at:
    with at.database.read.begin() as session:
        job = queue.get(session, int(sys.argv[1]))
    waiting.to_the_end(at, job, quiet=True)
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with running.house(tmp_path) as built:
        yield built


def follows(house: House, job: int) -> subprocess.Popen[bytes]:
    """A command that waits for a job."""
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(job)],
        env={**os.environ, **house.environment()}, stderr=subprocess.PIPE,
    )  # fmt: skip
    house.workers.append(command)
    return command


def said(command: subprocess.Popen[bytes]) -> str:
    """What a command that has come to its end had to say."""
    return command.communicate(timeout=60)[1].decode()


def check(steps: int) -> kinds.Check:
    return kinds.Check(project_id=None, steps=steps, seconds=0.1)


@pytest.mark.again
def test_who_waits_with_anothers_worker_goes_on_when_that_one_ends(house: House) -> None:
    first = follows(house, house.put(check(3000)))
    house.until(1, lambda job: job.state is JobState.RUNNING)
    second = follows(house, house.put(check(1)))
    assert second.stderr is not None
    heard = second.stderr.readline().decode()
    assert heard == "Job 2 waits for job 1 (Check of the worker), which holds the worker.\n"
    with house.database.write.begin() as session:
        queue.cancel(session, 1)
    assert STARTS in said(first)
    said(second)
    assert (second.returncode, house.get(2).state) == (0, JobState.DONE)
    house.until_empty()


def test_who_waits_goes_on_when_anothers_worker_is_killed(house: House) -> None:
    worker = house.start_worker()
    house.until_true(lambda: lives(house))
    command = follows(house, house.put(check(20)))
    house.until_step(1, 2)
    worker.kill()
    assert STARTS in said(command)
    assert (command.returncode, house.get(1).state) == (0, JobState.DONE)
    house.until_empty()


def lives(house: House) -> bool:
    with house.database.read.begin() as session:
        return bool(presence.living(session))
