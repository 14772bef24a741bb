"""A cluster of raylets on this machine, each with devices that are made up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.workers import running

MAIN = "from ray.scripts.scripts import main; main()"
TOKEN = "0123456789abcdef" * 4
OBJECTS = 80_000_000
START = 300  # seconds for a node, on a machine that does much else
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Nodes:
    """Where it is, and the process of each node; the first one is the head."""

    address: str
    folder: Path
    gpus: Sequence[int]
    cores: int
    nodes: list[subprocess.Popen[bytes]]

    def start(self, number: int) -> subprocess.Popen[bytes]:
        """A node as it was asked for; once more where it was killed, the head before the others."""
        if number == 0:
            port = self.address.rpartition(":")[2]
            options = ["--head", f"--port={port}", "--include-dashboard=false"]
            options.append(f"--temp-dir={self.folder}")
        else:
            options = [f"--address={self.address}"]
        options += [f"--num-cpus={self.cores}", f"--num-gpus={self.gpus[number]}"]
        return _node(self.folder / f"{number}.log", options)

    @property
    def settings(self) -> dict[str, str]:
        """What a worker needs to work on it."""
        return {
            "LOUPE_RAY_ADDRESS": self.address,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": TOKEN,
        }

    def actors(self, name: str, node: int | None = None) -> list[psutil.Process]:
        """The processes of actors of that class, of all nodes or of one."""
        found = []
        for one in self.nodes if node is None else [self.nodes[node]]:
            with suppress(psutil.Error):
                children = psutil.Process(one.pid).children(recursive=True)
                found += [each for each in children if f"ray::{name}" in running.line(each)]
        return found


@contextmanager
def cluster(*gpus: int, cores: int = 1) -> Iterator[Nodes]:
    """A node for each number of cards; they end with all that runs on them."""
    folder = Path(tempfile.mkdtemp(prefix="ln", dir="/tmp"))
    made = Nodes(f"127.0.0.1:{running.free_port()}", folder, gpus, cores, [])
    try:
        for number in range(len(gpus)):
            made.nodes.append(made.start(number))
        yield made
    finally:
        for one in made.nodes:
            end(one)
        shutil.rmtree(folder, ignore_errors=True)


def end(node: subprocess.Popen[bytes]) -> None:
    """Kill a node with all its processes."""
    known = [node.pid]
    with suppress(psutil.Error):
        known += [one.pid for one in psutil.Process(node.pid).children(recursive=True)]
    for pid in known:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    node.wait()


def _node(log: Path, options: Sequence[str]) -> subprocess.Popen[bytes]:
    own = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": TOKEN,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_raylet_start_wait_time_s": str(START),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", MAIN, "start", "--block", *options]
    command += [f"--object-store-memory={OBJECTS}"]
    with log.open("wb") as told:
        node = subprocess.Popen(
            command,
            env={**running.without_ray(), **own},
            stdout=told,
            stderr=told,
            start_new_session=True,
        )
    end_ = time.monotonic() + START
    while "Ray runtime started" not in (said := log.read_text()[-2000:]):
        assert node.poll() is None, said
        assert time.monotonic() < end_, said
        time.sleep(0.2)
    return node
