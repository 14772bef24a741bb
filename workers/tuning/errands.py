"""A process that carries out one trial after another, and stays warm between them.

Whether a trial goes on is decided by who gave it: after each epoch it waits for a word.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from backend.errors import Enough, LoupeError, Refused
from workers.families.base import Parameters, TrainingSet

GO_ON = ""
DIES_WITH_PARENT = 1  # what Linux calls PR_SET_PDEATHSIG
FAILURES = (Refused, MemoryError, RuntimeError, ValueError, ArithmeticError)
FULL = ("out of memory", "can't allocate memory", "cannot allocate memory")


@dataclass(frozen=True, slots=True)
class Seat:
    """What a process computes on: some cores, and a card where there is one."""

    name: str
    cores: Sequence[int]
    card: str = ""


@dataclass(frozen=True, slots=True)
class Errand:
    """One training, as it is given to the process."""

    module: str
    data: TrainingSet
    start: Path | None
    parameters: Parameters
    folder: Path


class Wire(Protocol):
    """What connects who carries out with who gives: a pipe, or what stands for one."""

    def send(self, obj: Any, /) -> None:
        """Say something."""

    def recv(self) -> Any:
        """Wait for a word."""


class ByPipe:
    """The reporter of such a process."""

    def __init__(self, pipe: Wire) -> None:
        self.pipe = pipe

    def progress(self, fraction: float, message: str) -> None:
        """Nobody answers it."""
        self.pipe.send(("progress", fraction, message))

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Wait for the word that it goes on."""
        self.pipe.send(("epoch", epoch, epochs, dict(figures)))
        if why := self.pipe.recv():
            raise Enough(why)

    def log(self, text: str) -> None:
        """What a single trial has to say is too much for the story of a search."""


def serve(pipe: Connection, seat: Seat) -> None:
    """Carry out errands until whoever gives them goes away."""
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)
    os.sched_setaffinity(0, seat.cores)
    if seat.card:
        os.environ["CUDA_VISIBLE_DEVICES"] = seat.card
    try:
        while True:
            carry_out(pipe, pipe.recv())
    except (EOFError, OSError, KeyboardInterrupt):
        return


def reason(error: Exception) -> str:
    """Why a trial failed, for people."""
    if isinstance(error, Refused):
        return str(error)
    said = str(error).strip().splitlines()[:1]
    if isinstance(error, MemoryError) or any(one in str(error).lower() for one in FULL):
        return "It ran out of memory: a smaller batch or image size may fit."
    return f"It stopped with {type(error).__name__}{f': {said[0][:300]}' if said else ''}."


def carry_out(pipe: Wire, errand: Errand) -> None:
    """Train, and say how it ended."""
    family = importlib.import_module(errand.module)
    try:
        trained = family.train(
            errand.data, errand.start, errand.parameters, ByPipe(pipe), errand.folder
        )
    except Enough:
        pipe.send(("enough",))
    except FAILURES as error:
        pipe.send(("failed", reason(error)))
    except LoupeError as error:
        pipe.send(("broken", error))
    else:
        pipe.send(("done", trained))
