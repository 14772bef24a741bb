"""A cluster of one's own, started apart from Loupe and closed by a token."""

from __future__ import annotations

import json
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from backend.domain import JobState
from backend.errors import Unavailable
from backend.jobs import kinds, presence
from backend.labels import samples
from backend.models import registry, trainings
from backend.runs import detection
from backend.storage.files import Files
from tests.workers import running
from workers.cluster import asks

pytestmark = pytest.mark.slow
TOKEN = "0123456789abcdef" * 4
HEAD = "from ray.scripts.scripts import main; main()"
NAMES = """
import json, sys
from ray._private.state import GlobalState
from ray._raylet import GcsClient, GcsClientOptions
jobs = GcsClient(address=sys.argv[1]).get_all_job_info().values()
named = [one.config.metadata["job_name"] for one in jobs if "job_name" in one.config.metadata]
state = GlobalState()
state._initialize_global_state(
    GcsClientOptions.create(
        sys.argv[1], None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False
    )
)
actors = [one["Name"] for one in state.actor_table(None).values()]
groups = [one["name"] for one in state.placement_group_table().values()]
print(json.dumps(named + actors + groups))
"""
# What a cluster says of itself is overwritten: Ray knows no other way to be of another version.
AGED = """
import json, sys
from ray._private.ray_constants import KV_NAMESPACE_CLUSTER
from ray._common.usage.usage_constants import CLUSTER_METADATA_KEY
from ray._raylet import GcsClient
told = json.dumps({"ray_version": "2.0.0", "python_version": "3.7.1"}).encode()
GcsClient(address=sys.argv[1]).internal_kv_put(
    CLUSTER_METADATA_KEY, told, overwrite=True, namespace=KV_NAMESPACE_CLUSTER
)
"""


@dataclass(frozen=True)
class Cluster:
    """Where it is, its head's process, and its folder."""

    address: str
    head: psutil.Process
    folder: Path

    def processes(self, name: str) -> list[psutil.Process]:
        """Those of its processes whose command names this."""
        return [one for one in self.head.children(recursive=True) if name in running.line(one)]

    def told(self) -> set[str]:
        """What its own tools call all that was ever on it: jobs, actors, reservations."""
        own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0"}
        command = [sys.executable, "-c", NAMES, self.address]
        environment = {**running.without_ray(), **own}
        told = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout
        return set(json.loads(told))

    def has_seen(self, actor: str) -> bool:
        """Whether an actor of that class has ever lived on it: each tells its log first."""
        logs = self.folder.glob("session_2*/logs/worker-*.out")
        return any(f":actor_name:{actor}" in log.read_text() for log in logs)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster with one node of two cores."""
    with started(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN) as made:
        yield made


@contextmanager
def started(**own: str) -> Iterator[Cluster]:
    """A head of one node, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="lp", dir="/tmp"))
    port = running.free_port()
    own |= {"RAY_USAGE_STATS_ENABLED": "0"}
    options = ["--head", "--block", f"--port={port}", "--num-cpus=2", f"--temp-dir={folder}"]
    head = subprocess.Popen(
        [sys.executable, "-c", HEAD, "start", *options, "--include-dashboard=false"],
        env={**running.without_ray(), **own, "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until_open(port)
        yield Cluster(f"127.0.0.1:{port}", psutil.Process(head.pid), folder)
    finally:
        for process in psutil.Process(head.pid).children(recursive=True):
            process.kill()
        head.kill()
        head.wait()
        shutil.rmtree(folder, ignore_errors=True)


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


@pytest.mark.again
def test_training_and_detection_run_on_the_cluster_that_the_setting_names(
    house: running.House, cluster: Cluster
) -> None:
    files = Files(str(house.home / "files"), house.home / "cache")
    drawn = samples.draw(files, "pcb", 9, seed=5)
    parameters = {"epochs": 1, "image_size": 96, "batch": 2}
    with house.database.write.begin() as session:
        project = samples.create(session, "boards", "pcb", drawn)
        started = trainings.retrain(
            session, project.id, "yolo", start="scratch", parameters=parameters
        )
        run = detection.ask(session, project.id, "golden", options={"ray": True}).id
    house.start_worker(LOUPE_RAY_ADDRESS=cluster.address, RAY_AUTH_TOKEN=TOKEN)
    ended = [house.until_ended(id, 300.0) for id in (run, started.job.id)]
    assert [(job.state, job.error) for job in ended] == [(JobState.DONE, "")] * 2
    assert (ended[0].result["images"], ended[0].result["failed"]) == (9, 0)
    assert cluster.has_seen("Looker")
    with house.database.read() as session:
        (worker,) = presence.living(session)
        assert registry.details(session, started.model.id).provenance["cluster"] == cluster.address
    assert worker.sees["address"] == cluster.address
    named = cluster.told()
    for what in (f"boards, job {run} (detect)", f"boards, job {started.job.id} (train)"):
        assert f"loupe {what}" in named
    for what in (
        f"job {run} (detect): looks, ",
        f"job {started.job.id} (train): steers the training, ",
        f"job {started.job.id} (train): what the training says, ",
        f"job {started.job.id} (train): room for 1 core, ",
    ):
        assert any(one.startswith(f"loupe boards, {what}") for one in named), (what, named)
    house.stop()
    house.until_empty()
    until_open(int(cluster.address.rpartition(":")[2]))  # it is not ours to end
    house.until_true(lambda: not cluster.processes("ray::Looker"))


@pytest.mark.again
def test_a_cluster_that_is_slow_is_tried_again(house: running.House, cluster: Cluster) -> None:
    (slow,) = cluster.processes("gcs_server")
    slow.suspend()
    try:
        house.start_worker(
            LOUPE_RAY_ADDRESS=cluster.address,
            RAY_AUTH_TOKEN=TOKEN,
            RAY_gcs_rpc_server_reconnect_timeout_s="6",
        )
        told = house.until(house.put(check()), lambda job: job.failures > 0)
    finally:
        slow.resume()
    assert told.state is JobState.QUEUED
    assert house.until_ended(told.id).state is JobState.DONE


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ({"RAY_AUTH_TOKEN": "f" * 64}, "refuses this machine's token"),
        ({"RAY_AUTH_TOKEN_PATH": "/nowhere"}, "asks for a token"),
    ],
)
def test_a_wrong_or_missing_token_is_told_at_once(
    house: running.House, cluster: Cluster, token: dict[str, str], sentence: str
) -> None:
    house.start_worker(LOUPE_RAY_ADDRESS=cluster.address, **token)
    job = house.until_ended(house.put(check()))
    assert (job.state, job.attempt) == (JobState.FAILED, 1)
    assert job.error == (
        f"The Ray cluster at {cluster.address} (setting LOUPE_RAY_ADDRESS) {sentence}: "
        "put the cluster's own into RAY_AUTH_TOKEN or ~/.ray/auth_token."
    )


def test_a_cluster_that_is_not_there_is_told(house: running.House) -> None:
    nowhere = f"127.0.0.1:{running.free_port()}"
    house.start_worker(LOUPE_RAY_ADDRESS=nowhere, RAY_AUTH_TOKEN=TOKEN)
    told = house.until(house.put(check()), lambda job: job.failures > 0)
    assert told.message.startswith(
        f"The Ray cluster at {nowhere} (setting LOUPE_RAY_ADDRESS) does not answer: "
    )


def test_a_cluster_that_is_silent_to_a_stranger_has_not_asked_for_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "1")
    with pytest.raises(Unavailable, match="did not answer who showed it no token"):
        asks(f"127.0.0.1:{running.free_port()}")


def test_a_cluster_of_another_version_is_told_as_that(house: running.House) -> None:
    with started(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN) as older:
        own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
        command = [sys.executable, "-c", AGED, older.address]
        subprocess.run(command, env={**running.without_ray(), **own}, check=True)
        house.start_worker(LOUPE_RAY_ADDRESS=older.address, RAY_AUTH_TOKEN=TOKEN)
        job = house.until_ended(house.put(check()))
    assert (job.state, job.attempt) == (JobState.FAILED, 1)
    assert job.error == (
        f"The Ray cluster at {older.address} (setting LOUPE_RAY_ADDRESS) runs Ray 2.0.0 on Python "
        f"3.7.1, this machine Ray {version('ray')} on Python {platform.python_version()}: both "
        "must be of the same version."
    )


def test_a_cluster_that_asks_for_no_token_is_joined_only_where_that_is_meant(
    house: running.House,
) -> None:
    with started(RAY_AUTH_MODE="disabled") as open_:
        alone = {"LOUPE_RAY_ADDRESS": open_.address, "RAY_AUTH_TOKEN_PATH": "/nowhere"}
        house.start_worker(**alone)
        refused = house.until_ended(house.put(check()))
        assert (refused.state, refused.attempt) == (JobState.FAILED, 1)
        assert "asks nobody for a token" in refused.error
        house.stop()
        house.start_worker(LOUPE_RAY_ADDRESS=open_.address, RAY_AUTH_TOKEN=TOKEN)
        assert "asks nobody for a token" in house.until_ended(house.put(check())).error
        house.stop()
        house.start_worker(**alone, LOUPE_RAY_OPEN="true")
        assert house.until_ended(house.put(check())).state is JobState.DONE
        house.stop()
