"""One attempt at a job: the process that carries it out, seen from the worker."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from socket import socketpair
from typing import Any

import psutil

from backend import apart
from backend.domain import Job
from workers import scratch

GRACE = 2.0


@dataclass(slots=True)
class Child:
    """A process of ours with a group of its own, at the other end of a wire."""

    process: subprocess.Popen[bytes]
    connection: Connection

    def send(self, message: dict[str, Any]) -> None:
        """Tell it something; one that has just died hears nothing."""
        with contextlib.suppress(OSError):
            self.connection.send(message)

    def messages(self) -> list[dict[str, Any]]:
        """What it has said since."""
        found = []
        with contextlib.suppress(EOFError, OSError):
            while self.connection.poll():
                found.append(self.connection.recv())
        return found

    def has_ended(self) -> bool:
        """Whether it is dead; it stays a zombie, so that its group cannot be another's yet."""
        if self.process.returncode is not None:
            return True
        try:
            status = psutil.Process(self.process.pid).status()
        except psutil.NoSuchProcess:
            return True
        return bool(status == psutil.STATUS_ZOMBIE)

    def kill(self) -> int:
        """End it and all its descendants for certain, and what they left; gives its exit code."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        self.connection.close()
        scratch.clear(self.process.pid)
        return code


def spawn(module: str) -> Child:
    """Start a module of ours as a child that dies with us."""
    ours, theirs = socketpair()
    with theirs:
        process = subprocess.Popen(
            apart.command(module, str(theirs.fileno())),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    return Child(process, Connection(ours.detach()))


@dataclass(slots=True)
class Attempt:
    """A job in its process, and when to look after it next."""

    job: Job
    child: Child
    began: float = field(default_factory=time.monotonic)
    renew_at: float = 0.0
    look_at: float = 0.0
    kill_at: float | None = None
    uses_cluster: bool = False
    trouble: str = ""

    def stop(self) -> None:
        """Ask the job to end; it is killed if it has not done so after a moment."""
        if self.kill_at is None:
            self.kill_at = time.monotonic() + GRACE
            self.child.send({"stop": True})

    def has_ended(self) -> bool:
        """Whether the process is dead, by itself or because its moment is over."""
        if self.kill_at is not None and time.monotonic() >= self.kill_at:
            return True
        return self.child.has_ended()


def begin(job: Job, lease: float) -> Attempt:
    """Start the process of a job that was just claimed."""
    child = spawn("workers.runner")
    apart.step_back(child.process.pid)
    child.send({"job": job.id})
    return Attempt(job, child, renew_at=time.monotonic() + lease / 4)


def how_it_ended(code: int) -> str:
    """A sentence about a process that ended without saying why."""
    if code == -signal.SIGKILL:
        return "Its process was killed (out of memory, perhaps)."
    if code < 0:
        return f"Its process was ended by {signal.Signals(-code).name}."
    return f"Its process ended with code {code}; the log tells more."
