"""The Ray cluster: started once, shared, closed to strangers, and left as it was found."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import psutil
import pytest

from backend.domain import JobState
from backend.jobs import claims, kinds, presence, queue
from backend.settings import Settings
from tests.workers import running
from tests.workers.running import House
from workers import cluster_child
from workers.attempt import Child
from workers.cluster import EVERY
from workers.cluster_child import Keeper, Resident

STRANGER = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).get_all_node_info(timeout=5)
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house whose cluster is warm: its worker has done one job on it."""
    with running.house(tmp_path_factory.mktemp("house")) as built:
        built.start_worker()
        job = built.put(on_cluster(1))
        assert built.until_ended(job).state is JobState.DONE
        yield built
        built.stop()
        built.until_empty()


def on_cluster(steps: int, seconds: float = 0.05) -> kinds.Check:
    return kinds.Check(project_id=None, steps=steps, seconds=seconds, cluster=True)


def cluster(house: House) -> dict[str, Any]:
    """The cluster as the pages see it."""
    end = time.monotonic() + 120.0
    while True:
        with house.database.read() as session:
            (worker,) = presence.living(session)
        if "free" in worker.sees:
            return dict(worker.sees)
        assert time.monotonic() < end, worker
        time.sleep(0.2)


def until_free(house: House) -> None:
    """Every core is free again, and no process works for a job any more."""
    end = time.monotonic() + 120.0
    while not is_free(cluster(house)) or busy(house):
        assert time.monotonic() < end, (cluster(house), busy(house))
        time.sleep(0.2)


def is_free(seen: dict[str, Any]) -> bool:
    return bool(seen["free"]["cores"] == sum(node["cores"] for node in seen["nodes"]))


def busy(house: House) -> list[str]:
    names = [running.line(process) for process in house.processes()]
    return [name for name in names if "workers.runner" in name or "ray::_sleep" in name]


def kill(house: House, what: str) -> None:
    for process in house.processes():
        if what in running.line(process):
            process.kill()


def test_the_cluster_is_described(house: House) -> None:
    seen = cluster(house)
    assert seen["state"] == "ready"
    assert seen["nodes"][0]["cores"] >= 1


def test_a_node_tells_which_jobs_it_carries(tmp_path: Path) -> None:
    free = {"cores": 2.0, "gpus": 0.0, "memory_gb": 3.5}
    node = {"name": "n1", "kind": "large", **free, "free": free, "actors": {11: 2, 12: 1, 99: 3}}
    kept = Keeper(Settings(home=tmp_path), _seen={"nodes": [node], "free": free, "temp_mb": 1.5})
    (told,) = kept.sight({11: 7, 12: 8})["nodes"]
    ours = {"jobs": {"7": 2, "8": 1}, "others": 3}
    assert told == {"name": "n1", "kind": "large", **free, "free": free, **ours}


@pytest.mark.parametrize("end", [JobState.DONE, JobState.CANCELLED, JobState.FAILED])
def test_a_job_leaves_the_cluster_as_it_was(house: House, end: JobState) -> None:
    until_free(house)
    job = house.put(
        on_cluster(3 if end is JobState.DONE else 2, 0.05 if end is JobState.DONE else 60)
    )
    if end is JobState.CANCELLED:
        house.until_step(job, 1)
        with house.database.write.begin() as session:
            queue.cancel(session, job)
    if end is JobState.FAILED:
        house.until_step(job, 1)
        with house.database.write.begin() as session:
            claims.fail(session, queue.get(session, job), "Enough.")
    assert house.until_ended(job).state is end
    until_free(house)


def test_a_cluster_that_never_stands_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_child, "START", 1.0)
    kept = Keeper(Settings(home=tmp_path))
    ours, theirs = Pipe()
    with ours, theirs, subprocess.Popen(["true"]) as asking:
        kept.want(Child(asking, ours))
        children = psutil.Process().children()
        (starting,) = (one for one in children if "workers.cluster" in running.line(one))
        starting.suspend()
        while not theirs.poll():
            kept.tick()
        assert theirs.recv() == {"error": "The Ray cluster could not be kept alive."}
    kept.tick()
    assert not starting.is_running()
    assert kept.sight({})["state"] == "off"


def test_who_answers_at_once_is_started_for_a_question_or_for_a_worker_that_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOUPE_HOME", str(tmp_path))

    def started() -> list[psutil.Process]:
        children = psutil.Process().children()
        return [one for one in children if "workers.resident" in running.line(one)]

    for ahead, asked in ((0.0, False), (float("inf"), True)):
        kept = Resident(ahead=float("inf"))
        kept.tick(lambda: False)
        assert started() == []
        kept.ahead = ahead
        kept.tick(lambda: asked)  # noqa: B023
        while not started():  # a process has its line a moment after its start
            pass
        assert len(started()) == 1
        kept.close()
    assert started() == []


def test_nobody_reaches_it_from_another_machine(house: House) -> None:
    cluster(house)
    open_to = [
        listening.laddr.ip.removeprefix("::ffff:")
        for process in house.processes()
        for listening in process.net_connections()
        if listening.status == psutil.CONN_LISTEN
    ]
    assert open_to
    assert set(open_to) <= {"127.0.0.1", "::1"}


def test_a_stranger_is_not_let_in(house: House) -> None:
    environment = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}
    command = [sys.executable, "-c", STRANGER, cluster(house)["address"]]
    refused = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert b"AuthenticationError" in refused.stderr


def test_the_death_of_its_head_is_noticed_also_by_who_waits_for_its_answer(house: House) -> None:
    for process in house.processes():
        if "gcs_server" in running.line(process):
            process.suspend()
    time.sleep(EVERY + 1)  # by then it is being asked
    kill(house, "gcs_server")
    ended = house.until_ended(house.put(on_cluster(1)))
    assert ended.state is JobState.DONE
    assert ended.attempt <= 2
    until_free(house)


OTHERS = [pytest.param(part, marks=pytest.mark.again) for part in ("gcs_server", "workers.cluster")]


@pytest.mark.parametrize("part", ["raylet", *OTHERS])
def test_a_job_survives_its_cluster(house: House, part: str) -> None:
    job = house.put(on_cluster(20, 0.2))
    house.until_step(job, 3)
    kill(house, part)
    ended = house.until_ended(job)
    assert ended.state is JobState.DONE
    assert ended.result["resumed_at"] >= 2
    until_free(house)
