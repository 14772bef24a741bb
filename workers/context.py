"""What a handler is given: the job, where to read and write, and how to tell how it goes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.domain import Job
from backend.errors import Cancelled
from backend.jobs import claims, journal, kinds
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files

log = logging.getLogger(__name__)
BETWEEN_WRITES = 0.4


@dataclass(slots=True)
class Context:
    """One attempt at one job. Every call that tells something raises Cancelled once it must end.

    `folder` outlives a crash, so that the next attempt finds this one's checkpoints.
    """

    job: Job
    request: kinds.Request
    database: Database
    files: Files
    settings: Settings
    folder: Path
    stopping: Event = field(default_factory=Event)
    ask_cluster: Callable[[], Mapping[str, str]] | None = None
    _untold: tuple[float | None, str] | None = field(default=None, init=False)
    _written: float = field(default=0.0, init=False)

    def check(self) -> None:
        """Raise Cancelled if the job must end now; call it in every long loop."""
        if self.stopping.is_set():
            raise Cancelled(f"Job {self.job.id} was asked to stop.")
        if self._untold is not None:
            self._tell(*self._untold)

    def progress(self, fraction: float | None, message: str) -> None:
        """How far it is, from 0 to 1, with a sentence; call it as often as you like.

        None is for what only prepares: an earlier attempt may have come farther than nothing.
        What comes too soon after the last one is told by the next `check`.
        """
        self._untold = fraction, message
        self.check()

    def _tell(self, fraction: float | None, message: str) -> None:
        now = time.monotonic()
        if now - self._written < BETWEEN_WRITES and (fraction or 0.0) < 1.0:
            return
        self._untold, self._written = None, now
        try:
            with self.database.write.begin() as session:
                claims.progress(session, self.job, fraction, message)
        except OperationalError as error:
            if "locked" not in str(error):
                raise
            log.warning("The database is locked by others; a sentence of progress is left out.")

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """One epoch is done: a point of every curve."""
        self.event(f"Epoch {epoch} of {epochs}", {"epoch": epoch, "epochs": epochs, **figures})

    def event(self, text: str = "", data: Mapping[str, Any] | None = None) -> None:
        """A line of the job's story with what pages draw from it."""
        self.check()
        with self.database.write.begin() as session:
            claims.fence(session, self.job)
            journal.write(session, self.job.id, text, data=data)
        if text:
            log.info("%s %s", text, dict(data) if data else "")

    def tell(self, session: Session, text: str) -> None:
        """A line of the story, with what else a transaction of the caller keeps."""
        journal.write(session, self.job.id, text)
        log.info("%s", text)

    def log(self, text: str) -> None:
        """A line for the job's log file and for its story."""
        self.event(text)

    def fence(self, session: Session) -> None:
        """Call it first in every transaction that writes results."""
        claims.fence(session, self.job)

    def cluster(self) -> Mapping[str, str]:
        """How to reach the Ray cluster, started by the worker if need be; see `cluster.join`."""
        if self.ask_cluster is None:
            return {"address": self.settings.ray_address or "local"}
        return self.ask_cluster()
