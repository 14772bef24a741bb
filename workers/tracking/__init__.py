"""Starts what tells mlflow of trainings when there is news; may ask models and families, no room.

It is a process of its own, `python -m workers.tracking FD`, and there only while there is news:
no training and no worker waits for a store that is slow or away.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from backend import apart
from backend import settings as all_settings
from backend.jobs import holder
from backend.models import tracked
from backend.settings import Settings
from backend.storage import engine, files
from backend.storage.engine import Database
from workers import attempt, scratch, wire
from workers.attempt import Child
from workers.tracking import telling

log = logging.getLogger(__name__)
LOOK = 2.0
REST = 30.0  # seconds, after which what ended badly is tried again
LOG = "mlflow.log"


@dataclass(slots=True)
class Tracker:
    """Looks whether there is news, and keeps the one process that tells it."""

    database: Database
    settings: Settings
    _child: Child | None = None
    _look_at: float = 0.0

    def tick(self) -> None:
        """One round: see the process end, start it where there is news."""
        if not self.settings.tracks:
            return
        if self._child is not None and self._child.has_ended():
            if code := self._child.kill():
                log.warning("What tells mlflow: %s", attempt.how_it_ended(code))
                self._look_at = time.monotonic() + REST
            self._child = None
        now = time.monotonic()
        if self._child is None and now >= self._look_at:
            self._look_at = now + LOOK
            with self.database.read() as session:
                news = bool(tracked.waiting(session, holder.me()))
            if news:
                self._child = attempt.spawn("workers.tracking")
                apart.step_back(self._child.process.pid)

    def close(self) -> None:
        """End the process; what it has not told yet waits for the next one."""
        if self._child is not None:
            self._child.kill()
            self._child = None


def main(descriptor: int) -> None:
    """Tell what is new until there is none for a while; ends with the worker, too."""
    wire.JobEnd(descriptor).listen()
    scratch.move_in()
    settings = all_settings.current()
    wire.write_to(settings.home / "logs" / LOG)
    database = engine.connect(settings)
    try:
        telling.Teller(database, settings, files.connect(settings)).run()
    except SQLAlchemyError as error:
        log.warning("Nothing more is told: %s", str(error).splitlines()[0])
    database.close()
