"""Hands that are processes of this machine, one a seat, each at the end of a pipe."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any

from backend import apart
from workers.tuning import errands
from workers.tuning.errands import Errand, Seat
from workers.tuning.hands import Hand, Lost, Message

log = logging.getLogger(__name__)
LOOK_UP = 0.4  # seconds, after which we see whether we should go on


@dataclass(eq=False, slots=True)
class Sitting:
    """A process on its seat, and our end of its pipe."""

    seat: Seat
    process: BaseProcess
    pipe: connection.Connection

    @property
    def name(self) -> str:
        """The seat's."""
        return self.seat.name

    def give(self, errand: Errand) -> None:
        """Send it."""
        try:
            self.pipe.send(errand)
        except OSError as error:
            raise Lost from error

    def say(self, word: str) -> None:
        """Who has died meanwhile is replaced in the next round."""
        with suppress(OSError):
            self.pipe.send(word)


class Processes:
    """A process on each seat."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self.sittings = [_start(seat) for seat in seats]

    def ready(self) -> Sequence[Hand]:
        """All: what is sent waits until they have begun."""
        return self.sittings

    def heard(self) -> Iterator[tuple[Hand, Message | None]]:
        """What the processes say."""
        pipes: dict[Any, Sitting] = {one.pipe: one for one in self.sittings}
        for pipe in connection.wait(pipes, LOOK_UP):
            one = pipes[pipe]
            try:
                said = one.pipe.recv()
            except (EOFError, OSError):
                self.replace(one)
                yield one, None
            else:
                yield one, said

    def replace(self, hand: Hand) -> None:
        """Another process on its seat."""
        for at, one in enumerate(self.sittings):
            if one is hand:
                one.process.kill()
                one.process.join()
                one.pipe.close()
                log.warning("The process of a trial ended (%s).", one.process.exitcode)
                self.sittings[at] = _start(one.seat)

    def close(self) -> None:
        """Kill them."""
        for one in self.sittings:
            one.process.kill()
        for one in self.sittings:
            one.process.join()
            one.pipe.close()


def _start(seat: Seat) -> Sitting:
    made = apart.context("spawn")
    ours, theirs = made.Pipe()
    # No daemon: a training may start processes that read its pictures.
    process = made.Process(target=errands.serve, args=(theirs, seat))  # type: ignore[attr-defined]
    process.start()
    theirs.close()
    return Sitting(seat, process, ours)
