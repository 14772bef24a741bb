"""Our program, copied from a process that has imported it already: a command begins at once.

Tests start dozens of sites and hundreds of commands, and each begins by reading Gradio and all else
from the disk. `test_shell.py` and `besieged.py` start ours as people do.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests import overhearing


@dataclass
class Warmed:
    """A process of our program; it can be asked what a `subprocess.Popen` can."""

    pid: int
    ended: socket.socket
    returncode: int | None = None

    def __post_init__(self) -> None:
        weakref.finalize(self, self.ended.close)  # also where nobody waits for its end

    def poll(self) -> int | None:
        """How it ended, if it has."""
        return self._look(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _look(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self.ended], [], [], seconds)[0]:
            self.returncode = int(self.ended.recv(100).decode())
            self.ended.close()
        return self.returncode


def start(arguments: Sequence[str], environment: Mapping[str, str], out: int, err: int) -> Warmed:
    """Start a command of ours, which writes to these two files."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asked = {"arguments": list(arguments), "environment": dict(environment), "folder": os.getcwd()}
    with theirs:
        files = [out, err, theirs.fileno()]
        socket.send_fds(_source(), [json.dumps(asked).encode()], files)
    return Warmed(int(ours.recv(100).decode()), ours)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Carry out a command of ours to its end; what it says on both channels stands together."""
    with tempfile.TemporaryFile() as said:
        process = start(arguments, environment, said.fileno(), said.fileno())
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        said.seek(0)
        return subprocess.CompletedProcess(arguments, code, said.read().decode())


@cache
def _source() -> socket.socket:
    """Where copies are asked for; its process ends with ours."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = overhearing.environment(Path(os.devnull)) | {"COLUMNS": "120"}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "tests.warming", str(theirs.fileno())],
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    atexit.register(_end, ours, process)
    return ours


def _end(asking: socket.socket, process: subprocess.Popen[bytes]) -> None:
    asking.close()
    process.wait(60)
