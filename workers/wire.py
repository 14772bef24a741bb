"""The wire between the worker and the process of one job: small messages, and each other's death.

A process whose other end has died takes its whole group with it, so that nothing is left over.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from typing import Any


class JobEnd:
    """The job's end: hears that it must stop, and asks for the cluster."""

    def __init__(self, descriptor: int) -> None:
        self._connection = Connection(descriptor)
        self._answer: dict[str, Any] = {}
        self._answered = Event()
        self.stopping = Event()

    def first(self) -> dict[str, Any]:
        """Wait for the first message: what to do."""
        message: dict[str, Any] = self._connection.recv()
        self.listen()
        return message

    def listen(self) -> None:
        """Hear in the background from now on."""
        Thread(target=self._listen, name="wire", daemon=True).start()

    def say(self, message: dict[str, Any]) -> None:
        """Send what needs no answer."""
        self._connection.send(message)

    def ask(self, message: dict[str, Any], wait: Callable[[], None]) -> dict[str, Any]:
        """Send a question and wait for its answer; `wait` is called often and may raise."""
        self._answered.clear()
        self.say(message)
        while not self._answered.wait(0.2):
            wait()
        return self._answer

    def _listen(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                os.killpg(0, signal.SIGKILL)
            if message.get("stop"):
                self.stopping.set()
            else:
                self._answer = message
                self._answered.set()


def write_to(path: Path) -> None:
    """All that this process and its libraries print goes to a log, not to the terminal."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.INFO, format=form, stream=sys.stderr)
