"""Has changes noted, and starts a loader when one is due; may ask the warehouse alone.

The loader is a process of its own, `python -m workers.publishing FD`, and there only while it
loads: nothing that waits for a warehouse holds up the worker.
"""

from __future__ import annotations

import gc
import logging
import time
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from backend import apart
from backend import settings as all_settings
from backend.errors import LoupeError
from backend.settings import Settings
from backend.storage import engine
from backend.storage.engine import Database
from backend.warehouse import address, ledger, loading, outbox, standing
from workers import attempt, wire
from workers.attempt import Child

log = logging.getLogger(__name__)
LOOK = 2.0
INSTALL = 60.0
LOG = "warehouse.log"


@dataclass(slots=True)
class Publisher:
    """Looks whether a load is due, and keeps the one process that carries it out."""

    database: Database
    settings: Settings
    _child: Child | None = None
    _due: dict[str, float] = field(default_factory=dict)

    def tick(self) -> None:
        """One round; jobs go on, whatever is wrong with the warehouse or its settings."""
        try:
            self._round()
        except LoupeError as error:
            if self._is_time("tell", INSTALL):
                log.warning("Nothing is published: %s", error)

    def _round(self) -> None:
        """Install what notes changes, start a loader, see one end."""
        if self._is_time("install", INSTALL):
            self._install()
        if self._child is not None and self._child.has_ended():
            if code := self._child.kill():
                log.warning("The loader: %s", attempt.how_it_ended(code))
            self._child = None
        if self._child is None and self._is_time("look", LOOK):
            with self.database.read() as session:
                due = standing.is_due(session, self.settings)
            if due:
                self._child = attempt.spawn("workers.publishing")
                apart.step_back(self._child.process.pid)

    def close(self) -> None:
        """End the loader; what it had taken waits for the next one."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _install(self) -> None:
        wanted = address.is_set(self.settings)
        with self.database.read.begin() as session:
            if wanted and outbox.is_installed(session):
                return
        with self.database.write.begin() as session:
            if not wanted:
                outbox.remove(session)
            elif outbox.install(session):
                # What has changed meanwhile is not known: all of it is published anew.
                ledger.set_laid(session, "")

    def _is_time(self, what: str, every: float) -> bool:
        now = time.monotonic()
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + every
        return True


def main(descriptor: int) -> None:
    """Publish what waits; ends by itself, and with the worker."""
    wire.JobEnd(descriptor).listen()
    # A million rows on their way are no garbage, and looking through them is a third of the work.
    gc.set_threshold(200_000, 50, 50)
    settings = all_settings.current()
    wire.write_to(settings.home / "logs" / LOG)
    database = engine.connect(settings)
    try:
        loading.run(database, settings)
    except (SQLAlchemyError, LoupeError) as error:
        log.warning("The load ends here: %s", str(error).splitlines()[0])
    database.close()
