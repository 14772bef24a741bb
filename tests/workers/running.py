"""A house with real worker processes, as `loupe serve` or `loupe worker` would start them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from backend.domain import FINAL, Job, JobState
from backend.jobs import kinds, queue
from backend.storage import engine, schema
from backend.storage.engine import Database

PATIENCE = 300.0  # seconds; what is waited for takes one or two where nobody else works


@dataclass
class House:
    """A home folder with its database, and the workers that run in it."""

    home: Path
    database: Database
    lease: float = 60.0
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_worker(self, **extra: str) -> subprocess.Popen[bytes]:
        """A worker process of its own."""
        environment = {**os.environ, **self.environment(), **extra}
        worker = subprocess.Popen([sys.executable, "-m", "workers"], env=environment)
        self.workers.append(worker)
        return worker

    @property
    def url(self) -> str:
        """The house's database, for a worker whose home is elsewhere."""
        return str(self.database.engine.url)

    def environment(self) -> dict[str, str]:
        """What a process needs to live in this house, and to be found again."""
        return {
            "LOUPE_HOME": str(self.home),
            "LOUPE_LEASE_SECONDS": str(self.lease),
            "LOUPE_HOUSE_MARK": str(self.home),
        }

    def put(self, request: kinds.Request) -> int:
        """Queue a request; gives the job's number."""
        with self.database.write.begin() as session:
            return queue.enqueue(session, request).id

    def get(self, id: int) -> Job:
        """The job as it stands."""
        with self.database.read() as session:
            return queue.get(session, id)

    def until(self, id: int, what: Callable[[Job], bool], seconds: float = PATIENCE) -> Job:
        """Wait until something is true of a job."""
        end = time.monotonic() + seconds
        while not what(job := self.get(id)):
            assert time.monotonic() < end, f"still {job}"
            time.sleep(0.05)
        return job

    def until_ended(self, id: int, seconds: float = PATIENCE) -> Job:
        """Wait for a job's end."""
        return self.until(id, lambda job: job.state in FINAL, seconds)

    def until_step(self, id: int, step: int) -> Job:
        """Wait until a check takes that step, or a later one."""

        def is_there(job: Job) -> bool:
            there = round(job.progress * job.request["steps"]) + 1 >= step
            return job.state is JobState.RUNNING and "Step" in job.message and there

        return self.until(id, is_there)

    def processes(self) -> list[psutil.Process]:
        """Every living process that descends from a worker of this house, found by its mark."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def freeze(self, processes: Iterable[psutil.Process]) -> None:
        """Stop processes where they stand, but not while one holds SQLite's only write lock."""
        with self.database.write.begin() as session:
            session.connection()
            for process in processes:
                process.send_signal(signal.SIGSTOP)

    def until_empty(self, seconds: float = PATIENCE) -> None:
        """Wait until no process of this house is left."""
        self.until_none(self.processes, seconds)

    def until_none(self, left: Callable[[], Sequence[object]], seconds: float = PATIENCE) -> None:
        """Wait until nothing is left."""
        end = time.monotonic() + seconds
        while found := left():
            assert time.monotonic() < end, f"left over: {found}"
            time.sleep(0.1)

    def until_true(self, what: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until something is so."""
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end
            time.sleep(0.1)

    def stop(self) -> None:
        """Ask every worker to end, and wait."""
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers:
            worker.wait(60)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            mark = process.environ().get("LOUPE_HOUSE_MARK")
            return mark == str(self.home) and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


def line(process: psutil.Process) -> str:
    """Its command line; empty for one that has just ended."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def without_ray() -> dict[str, str]:
    """The environment without what a test before told this process of another cluster."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}


@contextmanager
def house(home: Path, lease: float = 60.0) -> Iterator[House]:
    """An empty house; whatever still runs at the end is killed."""
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    schema.prepare(database)
    built = House(home, database, lease)
    try:
        yield built
    finally:
        for process in built.processes():
            process.kill()
        for worker in built.workers:
            worker.wait()
        database.close()
