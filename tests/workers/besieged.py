"""A served site that may be killed and comes back under its own address."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from backend.settings import Settings
from backend.storage import files
from backend.storage.engine import Database
from backend.storage.files import Files
from tests import serving
from tests.workers import running
from tests.workers.running import House


@dataclass
class Site:
    """A house whose site is served, with or without a worker."""

    house: House
    files: Files
    worker: bool
    port: int = field(default_factory=running.free_port)
    process: subprocess.Popen[bytes] = field(init=False)

    @property
    def database(self) -> Database:
        """The house's."""
        return self.house.database

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def serve(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "app.cli", "serve", "--no-browser", "--no-sample"]
        command += ["--port", str(self.port), *([] if self.worker else ["--no-worker"])]
        environment = {**os.environ, **self.house.environment()}
        with (self.house.home / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        self.house.workers.append(self.process)
        self.house.until_true(self._is_up, 120.0)

    def kill(self) -> None:
        """Kill it in the middle of whatever it does, and start it again."""
        self.process.kill()
        self.process.wait()
        self.serve()

    def _is_up(self) -> bool:
        assert self.process.poll() is None
        return serving.answers(self.url)


@contextmanager
def serving_at(home: Path, *, worker: bool = False) -> Iterator[Site]:
    """The site of an empty home, until the test is over."""
    with running.house(home) as house:
        site = Site(house, files.connect(Settings(home=home)), worker)
        site.serve()
        try:
            yield site
        finally:
            site.process.terminate()
            site.process.wait(60)
