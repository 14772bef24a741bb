"""Two programs that take turns of some seconds on one machine, so that others disturb both alike.

While one computes, the other is frozen with all its processes. Each tells in a file when it has
finished a part of its work; what a part took is read off the processor seconds of all its
processes, and off the clock that runs only during its turns.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

TURN = 3.0
LOOK = 0.2


@dataclass(frozen=True, slots=True)
class Part:
    """What a part of the work took; `own` are the processor seconds of those who do it."""

    seconds: float
    processor: float
    own: float


@dataclass(slots=True)
class Used:
    """What a process was last seen with."""

    seconds: float = 0.0
    works: bool = False


@dataclass(slots=True)
class Side:
    """A program in processes of its own; `marks` is the file in which it tells when.

    `counts_root` is false where its first process only asks for the work; `workers` stands in the
    command lines of those who do it, where others help.
    """

    run: Callable[[Path], None]
    folder: Path
    parts: int
    counts_root: bool = True
    workers: str = ""
    process: multiprocessing.process.BaseProcess = field(init=False)
    _turned: float = 0.0
    _samples: list[tuple[float, float, float, float]] = field(default_factory=list)
    _seen: dict[tuple[int, float], Used] = field(default_factory=dict)

    def __post_init__(self) -> None:
        start = multiprocessing.get_context("spawn")
        self.process = start.Process(target=self.run, args=(self.folder,))

    def turn(self, until: Callable[[float], bool]) -> None:
        """Let it compute until something is so (of the seconds that the turn has lasted)."""
        if self.process.pid is None:
            self.process.start()
        self._send(signal.SIGCONT)
        began = time.monotonic()
        self._sample(0.0)
        while not until(time.monotonic() - began) and self.process.is_alive():
            time.sleep(LOOK)
            self._sample(time.monotonic() - began)
        lasted = time.monotonic() - began
        self._send(signal.SIGSTOP)
        self._sample(lasted)
        self._turned += lasted

    def finish(self) -> None:
        """Let it end by itself."""
        self._send(signal.SIGCONT)
        self.process.join()
        assert self.process.exitcode == 0

    def end(self) -> None:
        """Leave nothing behind, however it went."""
        for process in self._processes(with_root=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def marks(self) -> list[float]:
        """When (by the machine's clock) its parts were finished."""
        path = self.folder / "marks"
        return [float(line) for line in path.read_text().split()] if path.exists() else []

    def is_done(self) -> bool:
        """Whether all parts are finished."""
        return len(self.marks()) >= self.parts

    def took(self) -> list[Part]:
        """What each part but the first, which warms up, took."""
        at, *kinds = np.array(self._samples).T
        marks = self.marks()[: self.parts]
        columns = [np.diff(np.interp(marks, at, values)) for values in kinds]
        return [Part(*map(float, row)) for row in zip(*columns, strict=True)]

    def _sample(self, lasted: float) -> None:
        self._samples.append((time.time(), self._turned + lasted, *self._used()))

    def _used(self) -> tuple[float, float]:
        """The processor seconds of all its processes, and of those who work; the ended included."""
        for process in self._processes(self.counts_root):
            # One that ends keeps what it was last seen with; its parent's account is not asked.
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                used = self._seen.setdefault((process.pid, process.create_time()), Used())
                used.seconds = times.user + times.system
                # Ray names a process after what it does, which is not told when it starts.
                used.works |= self.workers in " ".join(process.cmdline())
        every = self._seen.values()
        return sum(one.seconds for one in every), sum(one.seconds for one in every if one.works)

    def _send(self, what: signal.Signals) -> None:
        """Again and again, until nobody has started a process meanwhile."""
        told: set[int] = set()
        while fresh := {one.pid for one in self._processes(self.counts_root)} - told:
            for pid in fresh:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, what)
            told |= fresh

    def _processes(self, with_root: bool) -> list[psutil.Process]:
        try:
            root = psutil.Process(self.process.pid)
            return [root] * with_root + root.children(recursive=True)
        except psutil.NoSuchProcess:
            return []


def take(sides: Sequence[Side]) -> None:
    """Each side begins alone and finishes its first part; then they take turns to the end."""
    try:
        for side in sides:
            side.turn(functools.partial(_is_warm, side))
        while not all(side.is_done() for side in sides):
            for side in sides:
                side.turn(functools.partial(_is_over, side))
            done = ", ".join(f"{len(side.marks())} of {side.parts}" for side in sides)
            print(f"\r{done} parts", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        for side in sides:
            side.finish()
    finally:
        for side in sides:
            side.end()


def _is_warm(side: Side, lasted: float) -> bool:
    del lasted
    return bool(side.marks())


def _is_over(side: Side, lasted: float) -> bool:
    return lasted >= TURN or side.is_done()
