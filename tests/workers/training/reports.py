"""A reporter that remembers, and that may be told to cancel or to die."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping

from backend.errors import Cancelled


class Remembering:
    """Keeps what it is told; raises Cancelled, or kills the process, in a given epoch."""

    def __init__(self, cancel_in: int = 0, die_in: int = 0) -> None:
        self.cancel_in, self.die_in = cancel_in, die_in
        self.epochs: list[int] = []
        self.figures: list[dict[str, float]] = []
        self.lines: list[str] = []
        self.fractions: list[float] = []

    def progress(self, fraction: float, message: str) -> None:
        """Remember; stop in the batch that follows the last allowed epoch."""
        self.fractions.append(fraction)
        self.lines.append(message)
        if self.cancel_in and len(self.epochs) >= self.cancel_in - 1 and fraction > 0:
            raise Cancelled("A person cancelled the job.")

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Remember; die before the epoch can be told."""
        if self.die_in and epoch >= self.die_in:
            os.kill(os.getpid(), signal.SIGKILL)
        assert epoch <= epochs
        self.epochs.append(epoch)
        self.figures.append(dict(figures))

    def log(self, text: str) -> None:
        """Remember."""
        self.lines.append(text)
