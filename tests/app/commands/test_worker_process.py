"""The worker beside the site: it comes back when it dies, and never outlives the site."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import worker_process
from backend.domain import JobState
from backend.jobs import kinds
from tests.workers import running
from tests.workers.running import House

SITE = """
import time
from app import worker_process
with worker_process.beside():
    time.sleep(1000)
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with running.house(tmp_path) as built:
        yield built


def check() -> kinds.Check:
    return kinds.Check(project_id=None, steps=1, seconds=0.01)


def test_a_killed_worker_is_started_again(house: House) -> None:
    with worker_process.beside(house.environment()) as beside:
        assert beside.process is not None
        house.until_ended(house.put(check()))
        beside.process.kill()
        assert house.until_ended(house.put(check())).state is JobState.DONE
    house.until_empty()


def test_a_worker_ends_when_the_site_is_killed(house: House) -> None:
    site = subprocess.Popen([sys.executable, "-c", SITE], env={**os.environ, **house.environment()})
    house.workers.append(site)
    house.until_ended(house.put(check()))
    site.kill()
    site.wait()
    began = time.monotonic()
    house.until_empty()
    assert time.monotonic() - began < 5.0
