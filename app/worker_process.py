"""The worker process beside the site: started, watched, started again, stopped."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

from backend import apart

log = logging.getLogger(__name__)
STEADY = 30.0
LONGEST = 30.0


@dataclass(slots=True)
class WorkerProcess:
    """Keeps one `python -m workers` alive; one that dies early is started again ever later."""

    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    _stopping: Event = field(default_factory=Event)
    _thread: Thread | None = None
    _pipe: int = -1

    def start(self) -> None:
        """Start the worker and watch over it."""
        self.process = self._spawn()
        self._thread = Thread(target=self._watch, name="worker", daemon=True)
        self._thread.start()

    def stop(self, patience: float = 15.0) -> None:
        """Ask the worker to hand its job back, and see it end."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        if self.process is not None:
            self._end(self.process, patience)

    def _spawn(self) -> subprocess.Popen[bytes]:
        """The worker reads from a pipe that closes when this process dies, however it dies."""
        read, write = os.pipe()
        command = apart.command("workers", "--parent", str(read))
        environment = {**os.environ, **self.environment}
        try:
            # A session of its own: Ctrl-C reaches the site alone, which then stops the worker.
            process = subprocess.Popen(
                command, env=environment, pass_fds=[read], start_new_session=True
            )
        finally:
            os.close(read)
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe = write
        return process

    def _watch(self) -> None:
        wait, began = 1.0, time.monotonic()
        while not self._stopping.wait(0.2):
            assert self.process is not None
            code = self.process.poll()
            if code is None:
                continue
            if time.monotonic() - began > STEADY:
                wait = 1.0
            log.warning("The worker ended with code %d; a new one starts in %g s.", code, wait)
            if self._stopping.wait(wait):
                return
            wait, began = min(wait * 2, LONGEST), time.monotonic()
            self.process = self._spawn()

    def _end(self, process: subprocess.Popen[bytes], patience: float) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(self._pipe)


@contextmanager
def beside(environment: Mapping[str, str] | None = None) -> Iterator[WorkerProcess]:
    """A worker for as long as the block lasts."""
    worker = WorkerProcess(environment or {})
    worker.start()
    try:
        yield worker
    finally:
        worker.stop()
