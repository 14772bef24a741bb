"""The pool on a Ray cluster: one long-lived actor on each core, or on each graphics card."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from backend.errors import LoupeError, Unavailable
from backend.jobs import needs
from backend.jobs.needs import Need
from workers.demand import names, reservation
from workers.demand.reservation import Reservation
from workers.engine.chunks import Chunk, ChunkResult
from workers.engine.pools import copies, shipping
from workers.engine.pools.copies import Copies, Parcel
from workers.engine.pools.schedule import Schedule
from workers.engine.pools.shipping import Cargo
from workers.engine.work import ChunkWorker, Setup
from workers.runtimes.preparing import Prepared

log = logging.getLogger(__name__)
IN_FLIGHT = 2
LOOK_UP = 0.5  # seconds, after which we see whether we should go on
LOOK_AROUND = 5.0  # seconds, after which we see whether the cluster has grown
MOST_FALSE_STARTS = 5  # an actor
HELLO = None
NO_PARCELS: Mapping[str, Parcel] = {}


class Looker:
    """An actor: a worker that tells whether it sees our disk."""

    def __init__(self, setup: Setup, cargo: Cargo) -> None:
        first = setup.arguments[0] if setup.arguments else None
        if isinstance(first, Prepared):
            arguments = (shipping.unpack(first, cargo), *setup.arguments[1:])
            setup = replace(setup, arguments=arguments)
        self._worker = ChunkWorker(setup)
        self._copies: Copies | None = None

    def hello(self, sample: str) -> bool:
        """Ready; whether this file can be read here."""
        return not sample or "://" in sample or os.path.exists(sample)

    def look(self, chunk: Chunk, sent: Mapping[str, Parcel] = NO_PARCELS) -> ChunkResult:
        """The boxes of every picture; those sent are fetched where this machine lacks them."""
        if sent:
            import ray

            self._copies = self._copies or Copies()
            fetched = self._copies.opened(sent, ray.get)
            chunk = replace(chunk, carried={**chunk.carried, **fetched})
        return self._worker.look(chunk)


@dataclass(eq=False, slots=True)
class RayHand:
    """An actor, and which of its answers are still to come."""

    actor: Any
    ready: bool = False
    sees_files: bool = True
    due: dict[Any, int | None] = field(default_factory=dict)


class RayPool:
    """Actors of a cluster that `ray` is connected to; `with` it, or close it."""

    def __init__(
        self,
        ray: Any,
        setup: Setup,
        check: Callable[[], None] = lambda: None,
        most: int = 0,
        looker: type = Looker,
        held: Reservation | None = None,
        memory_gb: float = 0.0,
    ) -> None:
        self.setup = setup
        self._ray = ray
        self._check = check
        self._most = most
        self._held = held
        self._each = Need(needs.GPU if setup.card else needs.CPU, 1, memory_gb)
        self._hands: list[RayHand] = []
        self._false_starts = 0
        self._sample = ""
        self._looked_around = 0.0
        self._cargo = ray.put(_cargo(setup))
        takes = held.place() if held else _takes(self._each)
        self._options = {"max_restarts": 0, "max_task_retries": 0, **takes}
        self._make = ray.remote(looker)

    @property
    def size(self) -> int:
        """How many actors are reserved, or else the cluster has room for."""
        if self._held is not None:
            return self._held.need.count
        kind = "GPU" if self.setup.card else "CPU"
        room = int(self._ray.cluster_resources().get(kind, 0))
        if self._each.memory_gb:
            room = reservation.room(self._ray, self._each)
        return max(1, min(room, self._most or room))

    def __enter__(self) -> Self:
        self._fill()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, work: Iterable[Chunk]) -> Iterator[ChunkResult]:
        """The answer to every chunk, in the order in which they come."""
        schedule = Schedule(iter(work))
        while True:
            self._look_around()
            for hand in self._hands:
                self._feed(hand, schedule)
            yield from schedule.given_up()
            if not schedule.waiting() and schedule.exhausted:
                return
            self._check()
            for ref in self._done():
                yield from self._receive(ref, schedule)

    def until_ready(self) -> None:
        """Wait until every actor has its model, for who measures what follows."""
        nothing = Schedule(iter(()))
        while not all(hand.ready for hand in self._hands):
            for hand in self._hands:
                self._feed(hand, nothing)
            for ref in self._done():
                list(self._receive(ref, nothing))

    def close(self) -> None:
        """End all actors now, whatever they do."""
        for hand in self._hands:
            self._ray.kill(hand.actor)
        self._hands.clear()
        if self._held is not None:
            self._held.release()

    def _look_around(self) -> None:
        if time.monotonic() - self._looked_around > LOOK_AROUND:
            self._looked_around = time.monotonic()
            self._fill()

    def _fill(self) -> None:
        for _ in range(self.size - len(self._hands)):
            made = self._make.options(**self._options, name=names.named(self._ray, "looks"))
            self._hands.append(RayHand(made.remote(self.setup, self._cargo)))

    def _feed(self, hand: RayHand, schedule: Schedule) -> None:
        if not hand.ready:
            self._greet(hand, schedule)
            return
        while schedule.holding(hand) < IN_FLIGHT:
            chunk = schedule.take(hand)
            if chunk is None:
                return
            sent = () if hand.sees_files else (copies.parcels(chunk, self._ray.put),)
            hand.due[hand.actor.look.remote(chunk, *sent)] = chunk.number

    def _greet(self, hand: RayHand, schedule: Schedule) -> None:
        """An actor that waits for a free core must not hold chunks meanwhile."""
        if not hand.due:
            self._sample = self._sample or schedule.sample()
            hand.due[hand.actor.hello.remote(self._sample)] = HELLO

    def _done(self) -> list[Any]:
        refs = [ref for hand in self._hands for ref in hand.due]
        if not refs:
            time.sleep(LOOK_UP)
            return []
        ready, others = self._ray.wait(refs, num_returns=1, timeout=LOOK_UP)
        if ready and others:
            ready += self._ray.wait(others, num_returns=len(others), timeout=0)[0]
        return list(ready)

    def _receive(self, ref: Any, schedule: Schedule) -> Iterator[ChunkResult]:
        hand = next((one for one in self._hands if ref in one.due), None)
        if hand is None:
            return  # its actor was buried a moment ago
        number = hand.due.pop(ref)
        try:
            answer = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, LoupeError):
                raise error.cause from error
            self._bury(hand, schedule, error)
        except self._ray.exceptions.RayError as error:
            self._bury(hand, schedule, error)
        else:
            if number is HELLO:
                hand.ready, hand.sees_files, self._false_starts = True, answer, 0
            elif schedule.answered(hand, number):
                yield answer

    def _bury(self, hand: RayHand, schedule: Schedule, error: Exception) -> None:
        """Never ask a dead actor again: it would be refused for ever."""
        self._hands.remove(hand)
        self._ray.kill(hand.actor)
        schedule.died(hand, looking=hand.ready)
        reason = (str(error).strip().splitlines() or [""])[0]
        log.warning("A detection actor ended (%s: %s); it is replaced.", type(error), reason)
        self._false_starts += not hand.ready
        if self._false_starts > MOST_FALSE_STARTS * max(len(self._hands), 1):
            raise Unavailable(f"The detection actors end while they load the model: {reason}")
        self._fill()


def _takes(each: Need) -> Mapping[str, Any]:
    device = {"num_gpus": 1} if each.device == needs.GPU else {"num_cpus": 1}
    return {**device, "memory": each.bundle["memory"]} if each.memory_gb else device


def _cargo(setup: Setup) -> Cargo:
    first = setup.arguments[0] if setup.arguments else None
    return shipping.pack(first) if isinstance(first, Prepared) else {}
