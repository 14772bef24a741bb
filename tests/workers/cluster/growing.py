"""A cluster that grows: Ray's own autoscaler, over nodes that are processes of this machine.

It begins without a card; its nodes have one each, made up, which is all that is made up here.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import yaml

from tests.workers import running

HEAD = "from ray.scripts.scripts import main; main()"
NUMBER = "f" * 51 + "00000"
TYPE = "ray.head.default"
PROVIDER = "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider"
OBJECTS = 80_000_000
# What would be done on machines that are rented; Ray reads it here, too.
STEPS = (
    "setup_commands",
    "head_setup_commands",
    "worker_setup_commands",
    "initialization_commands",
    "head_start_ray_commands",
    "worker_start_ray_commands",
    "cluster_synced_files",
    "rsync_exclude",
    "rsync_filter",
)
IDLE = 6.0  # seconds after which a node that nobody uses is ended
TOKEN = "0123456789abcdef" * 4
NODE_TYPES: Mapping[str, Mapping[str, Any]] = {
    "with_gpu": {"resources": {"CPU": 1, "GPU": 1}, "max_workers": 3}
}


@dataclass(frozen=True)
class Growing:
    """Where it is, its head's process, and its folder."""

    address: str
    head: subprocess.Popen[bytes]
    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        """What a worker needs to work on it."""
        return {"LOUPE_RAY_ADDRESS": self.address, "RAY_AUTH_TOKEN": TOKEN}

    def nodes(self) -> list[psutil.Process]:
        """The nodes that it has started and not ended, without its head."""
        found = []
        for process in psutil.Process(self.head.pid).children(recursive=True):
            with suppress(psutil.Error):
                kind = process.environ().get("RAY_NODE_TYPE_NAME", TYPE)
                if process.name() == "raylet" and kind != TYPE:
                    found.append(process)
        return found


@contextmanager
def cluster(
    node_types: Mapping[str, Mapping[str, Any]] = NODE_TYPES, cores: int = 1
) -> Iterator[Growing]:
    """The cluster; it ends with all of its nodes, which are of its process group."""
    folder = Path(tempfile.mkdtemp(prefix="lg", dir="/tmp"))
    port = _port()
    (folder / "growing.yaml").write_text(yaml.safe_dump(_described(port, node_types, cores)))
    log = (folder / "head.log").open("wb")
    options = ["--head", "--block", f"--port={port}", f"--num-cpus={cores}", "--num-gpus=0"]
    options += [f"--temp-dir={folder}", f"--autoscaling-config={folder / 'growing.yaml'}"]
    options += ["--include-dashboard=false", f"--object-store-memory={OBJECTS}"]
    head = subprocess.Popen(
        [sys.executable, "-c", HEAD, "start", *options],
        env={**running.without_ray(), **_environment()},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        _until_up(head, folder)
        yield Growing(f"127.0.0.1:{port}", head, folder)
    finally:
        _end(head)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def _environment() -> dict[str, str]:
    return {
        "RAY_FAKE_CLUSTER": "1",
        "RAY_enable_autoscaler_v2": "1",
        "AUTOSCALER_UPDATE_INTERVAL_S": "1",
        "RAY_OVERRIDE_NODE_ID_FOR_TESTING": NUMBER,
        "RAY_CLOUD_INSTANCE_ID": NUMBER,
        "RAY_NODE_TYPE_NAME": TYPE,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": TOKEN,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }


def _described(
    port: int, node_types: Mapping[str, Mapping[str, Any]], cores: int
) -> dict[str, Any]:
    provider = {
        "type": "external",
        "module": PROVIDER,
        "gcs_address": f"127.0.0.1:{port}",
        "head_node_id": NUMBER,
        "launch_multiple": True,
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
    }
    kinds = {name: _with_store(kind) for name, kind in node_types.items()}
    return {
        "cluster_name": "growing",
        "max_workers": sum(int(kind["max_workers"]) for kind in kinds.values()),
        "idle_timeout_minutes": IDLE / 60,
        "provider": provider,
        "available_node_types": {
            TYPE: {"resources": {"CPU": cores}, "max_workers": 0, "node_config": {}},
            **kinds,
        },
        "head_node_type": TYPE,
        **{name: [] for name in STEPS},
        "auth": {},
        "docker": {},
        "file_mounts": {},
        "file_mounts_sync_continuously": False,
    }


def _with_store(kind: Mapping[str, Any]) -> dict[str, Any]:
    resources = {"object_store_memory": OBJECTS, **kind["resources"]}
    return {"min_workers": 0, "node_config": {}, **kind, "resources": resources}


def _port() -> int:
    """A free one below those that Ray gives to its processes."""
    while True:
        port = random.SystemRandom().randint(7000, 9900)
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)):
                return port


def _until_up(head: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + 90.0
    while True:
        said = (folder / "head.log").read_text()[-2000:]
        if "Ray runtime started" in said:
            return
        assert head.poll() is None, said
        assert time.monotonic() < end, said
        time.sleep(0.2)


def _end(head: subprocess.Popen[bytes]) -> None:
    """Nodes are started in the head's process group, or below it."""
    known = [head.pid]
    with suppress(psutil.Error):
        known += [one.pid for one in psutil.Process(head.pid).children(recursive=True)]
    with suppress(ProcessLookupError):
        os.killpg(head.pid, signal.SIGKILL)
    for pid in known:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    head.wait()
