"""A cluster of one's own, started apart from Loupe and closed by a token."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from backend.domain import JobState
from backend.jobs import kinds, presence
from backend.services import registry, sampling, training
from backend.storage.files import Files
from tests.workers import running

pytestmark = pytest.mark.slow
TOKEN = "0123456789abcdef" * 4
HEAD = "from ray.scripts.scripts import main; main()"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster with one node of two cores."""
    folder = Path(tempfile.mkdtemp(prefix="lp", dir="/tmp"))
    port = free_port()
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0"}
    options = ["--head", "--block", f"--port={port}", "--num-cpus=2", f"--temp-dir={folder}"]
    head = subprocess.Popen(
        [sys.executable, "-c", HEAD, "start", *options, "--include-dashboard=false"],
        env={**os.environ, **own, "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until_open(port)
        yield f"127.0.0.1:{port}"
    finally:
        for process in psutil.Process(head.pid).children(recursive=True):
            process.kill()
        head.kill()
        head.wait()
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def until_open(port: int) -> None:
    end = time.monotonic() + 90.0
    while True:
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[running.House]:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with running.house(tmp_path) as built:
        yield built


def check() -> kinds.Check:
    return kinds.Check(project_id=None, steps=2, seconds=0.05, cluster=True)


def test_a_training_runs_on_the_cluster_that_the_setting_names(
    house: running.House, address: str
) -> None:
    files = Files(str(house.home / "files"), house.home / "cache")
    drawn = sampling.draw(files, "pcb", 9, seed=5)
    parameters = {"epochs": 1, "image_size": 96, "batch": 2}
    with house.database.write.begin() as session:
        project = sampling.create(session, "boards", "pcb", drawn)
        started = training.retrain(
            session, project.id, "yolo", start="scratch", parameters=parameters
        )
    house.start_worker(LOUPE_RAY_ADDRESS=address, RAY_AUTH_TOKEN=TOKEN)
    ended = house.until_ended(started.job.id, 300.0)
    assert (ended.state, ended.error) == (JobState.DONE, "")
    with house.database.read() as session:
        (worker,) = presence.living(session)
        assert registry.details(session, started.model.id).provenance["cluster"] == address
    assert worker.description["address"] == address
    house.stop()
    house.until_empty()
    until_open(int(address.rpartition(":")[2]))  # it is not ours to end


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ({"RAY_AUTH_TOKEN": "f" * 64}, "refuses this machine's token"),
        ({"RAY_AUTH_TOKEN_PATH": "/nowhere"}, "asks for a token"),
    ],
)
def test_a_wrong_or_missing_token_is_told_at_once(
    house: running.House, address: str, token: dict[str, str], sentence: str
) -> None:
    house.start_worker(LOUPE_RAY_ADDRESS=address, **token)
    job = house.until_ended(house.put(check()), 120.0)
    assert (job.state, job.attempt) == (JobState.FAILED, 1)
    assert job.error == (
        f"The Ray cluster at {address} (setting LOUPE_RAY_ADDRESS) {sentence}: "
        "put the cluster's own into RAY_AUTH_TOKEN or ~/.ray/auth_token."
    )


def test_a_cluster_that_is_not_there_is_told(house: running.House) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    house.start_worker(LOUPE_RAY_ADDRESS=nowhere, RAY_AUTH_TOKEN=TOKEN)
    told = house.until(house.put(check()), lambda job: job.failures > 0, 120.0)
    assert told.message.startswith(
        f"The Ray cluster at {nowhere} (setting LOUPE_RAY_ADDRESS) does not answer: "
    )
