"""The pool on this machine: processes with one thread each, fed through pipes."""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import ForkServerContext
from typing import Any, Self, cast

from backend import apart
from backend.errors import LoupeError, Unavailable
from workers.engine.chunks import Chunk, ChunkResult
from workers.engine.pools.schedule import Schedule
from workers.engine.work import ChunkWorker, Setup

log = logging.getLogger(__name__)
IN_FLIGHT = 2
LOOK_UP = 0.5  # seconds, after which we see whether we should go on
MOST_FALSE_STARTS = 3
DYING = 10.0  # seconds in which a killed server may still be taken for a living one
READY = "ready"
# A server that has imported what its children need forks each of them within milliseconds.
_server = cast("ForkServerContext", apart.context("forkserver"))
_server.set_forkserver_preload(["workers.engine.pools.forerunner"])


@dataclass(eq=False, slots=True)
class LocalHand:
    """A worker process and our end of its pipe."""

    process: multiprocessing.process.BaseProcess
    pipe: connection.Connection
    ready: bool = False


class LocalPool:
    """Worker processes of this machine; `with` it, or close it."""

    def __init__(
        self, setup: Setup, processes: int = 0, check: Callable[[], None] = lambda: None
    ) -> None:
        self.setup = setup
        self._check = check
        self.size = processes or len(os.sched_getaffinity(0))
        self._hands: list[LocalHand] = []
        self._false_starts = 0

    def __enter__(self) -> Self:
        self._fill()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, work: Iterable[Chunk]) -> Iterator[ChunkResult]:
        """The answer to every chunk, in the order in which they come."""
        schedule = Schedule(iter(work))
        self._fill()
        while True:
            for hand in self._hands:
                self._feed(hand, schedule)
            yield from schedule.given_up()
            if not schedule.waiting() and schedule.exhausted:
                return
            self._check()
            yield from self._receive(schedule)

    def pids(self) -> list[int]:
        """The processes' ids."""
        return [hand.process.pid for hand in self._hands if hand.process.pid]

    def close(self) -> None:
        """End all processes now, whatever they do."""
        for hand in self._hands:
            hand.process.kill()
        for hand in self._hands:
            hand.process.join()
            hand.pipe.close()
        self._hands.clear()

    def _fill(self) -> None:
        while len(self._hands) < self.size:
            self._hands.append(_start(self.setup))

    def _feed(self, hand: LocalHand, schedule: Schedule) -> None:
        try:
            while schedule.holding(hand) < IN_FLIGHT:
                chunk = schedule.take(hand)
                if chunk is None:
                    return
                hand.pipe.send(chunk)
        except OSError:
            return  # it is dead; its closed pipe is seen when we wait

    def _receive(self, schedule: Schedule) -> Iterator[ChunkResult]:
        pipes: dict[Any, LocalHand] = {hand.pipe: hand for hand in self._hands}
        for pipe in connection.wait(pipes, LOOK_UP):
            hand = pipes[pipe]
            try:
                message = hand.pipe.recv()
            except (EOFError, OSError):
                self._bury(hand, schedule)
                continue
            if isinstance(message, ChunkResult):
                if schedule.answered(hand, message.number):
                    yield message
            elif isinstance(message, LoupeError):
                raise message
            else:
                hand.ready = True
                self._false_starts = 0

    def _bury(self, hand: LocalHand, schedule: Schedule) -> None:
        hand.process.kill()
        hand.process.join()
        hand.pipe.close()
        self._hands.remove(hand)
        schedule.died(hand, looking=hand.ready)
        log.warning("A detection process ended (%s); it is replaced.", hand.process.exitcode)
        if not hand.ready:
            self._false_starts += 1
        if self._false_starts > MOST_FALSE_STARTS:
            raise Unavailable(
                f"The detection processes end while they load the model "
                f"(exit code {hand.process.exitcode}); there may be too little memory."
            )
        self._fill()


def _start(setup: Setup) -> LocalHand:
    ours, theirs = _server.Pipe()
    end = time.monotonic() + DYING
    while True:
        process = _server.Process(target=serve, args=(theirs, setup), daemon=True)
        try:
            process.start()
        except (ConnectionError, EOFError):
            # Its socket is shut before it counts as dead; then another one is started.
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            theirs.close()
            return LocalHand(process, ours)


def serve(pipe: connection.Connection, setup: Setup) -> None:
    """A worker process: answers chunks until its parent goes away."""
    try:
        worker = ChunkWorker(setup)
    except LoupeError as error:
        pipe.send(error)
        return
    pipe.send(READY)
    try:
        while True:
            pipe.send(worker.look(pipe.recv()))
    except (EOFError, OSError, KeyboardInterrupt):
        return
