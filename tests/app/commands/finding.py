"""A house whose commands are called as a person calls them, each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from backend.jobs import presence
from backend.models import registry
from backend.projects import catalogue
from backend.storage import engine, schema
from backend.storage.engine import Database
from backend.storage.files import Files
from tests import warmed

WEIGHTS = Path(__file__).parents[3] / "assets" / "start_yolo11n.safetensors"


@dataclass
class Desk:
    """A home folder, with the database that its commands use."""

    home: Path
    database: Database

    @property
    def files(self) -> Files:
        """Where the home's pictures and weights are."""
        return Files(str(self.home / "files"), self.home / "cache")

    def run(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Carry out a command to its end; what it says on both channels stands together."""
        done = warmed.run(arguments, self._environment(), 540.0)
        if check:
            done.check_returncode()
        return done

    @contextmanager
    def running(self, *arguments: str) -> Iterator[None]:
        """A command that goes on until Ctrl+C."""
        process = warmed.start(arguments, self._environment(), 1, 2)
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0

    def interrupted(self, *arguments: str) -> tuple[int, str]:
        """Ctrl+C once the command follows its job: how it ended, and what it said."""
        with tempfile.TemporaryFile() as said:
            process = warmed.start(arguments, self._environment(), 1, said.fileno())
            until(self._follows, 60)
            process.send_signal(signal.SIGINT)
            code = process.wait(60)
            said.seek(0)
            return code, said.read().decode()

    def _follows(self) -> bool:
        with self.database.read.begin() as session:
            return bool(presence.living(session))

    def champion(self, project: str, image_size: int = 0) -> int:
        """A project whose champion was trained elsewhere; gives its id."""
        size = {"image_size": image_size} if image_size else {}
        with self.database.write.begin() as session:
            made = catalogue.find_or_create(session, project).id
            model = registry.add(
                session, made, "yolo", classes=(), snapshot_id=None, parameters=size
            )
            registry.complete(session, model.id, self.files.put(WEIGHTS.read_bytes()), {})
        return made

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "LOUPE_HOME": str(self.home), "COLUMNS": "120"}


@contextmanager
def desk(home: Path, cache: Path) -> Iterator[Desk]:
    """An empty home; prepared models are kept in a cache that others share."""
    home.mkdir()
    (home / "cache").symlink_to(cache)
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    schema.prepare(database)
    try:
        yield Desk(home, database)
    finally:
        database.close()


def until(what: Callable[[], bool], seconds: float) -> float:
    """Wait for a condition; gives how long it took."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < seconds
        time.sleep(0.02)
    return time.monotonic() - began
