"""How often a password may be guessed: counted before it is checked, and ever more slowly."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from backend.errors import Refused, Unavailable

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE, WAITING = 2, 32
MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Leniency:
    """So many wrong tries cost nothing, each further one twice the wait; one is forgiven a time."""

    free: int
    longest: float
    forgives_every: float


# A name is guessed at from one address: who guesses waits, and nobody elsewhere who has that name.
PAIR = Leniency(free=5, longest=300.0, forgives_every=600.0)
# Many people may share one address.
ADDRESS = Leniency(free=40, longest=60.0, forgives_every=60.0)


class TooOften(Refused):
    """Too many wrong passwords in a short time."""

    def __init__(self, seconds: int) -> None:
        words = f"{seconds} seconds" if seconds > 1 else "a second"
        super().__init__(f"Too many wrong passwords; wait {words} and try again.")
        self.seconds = seconds


@dataclass(slots=True)
class _Tries:
    """Tries that nobody has shown to be right, and when the last one was."""

    number: float = 0.0
    last: float = 0.0

    def wait(self, leniency: Leniency, now: float) -> float:
        """Seconds until the next try."""
        over = self.number - leniency.free
        return self.last + min(2.0 ** min(over, 30), leniency.longest) - now if over >= 0 else 0.0

    def add(self, leniency: Leniency, now: float) -> None:
        """One more, after what time has forgiven."""
        forgiven = (now - self.last) / leniency.forgives_every
        self.number, self.last = max(0.0, self.number - forgiven) + 1, now


class Guesses:
    """Tries by name and address, and by address; the names may be anything that was typed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tries: OrderedDict[str, _Tries] = OrderedDict()

    def count(self, name: str, address: str) -> None:
        """A try begins; one that comes too early is refused and not counted."""
        now = self._clock()
        with self._lock:
            known = [(self._known(key), leniency) for key, leniency in _keys(name, address)]
            wait = max(tries.wait(leniency, now) for tries, leniency in known)
            if wait > 0:
                raise TooOften(math.ceil(wait))
            for tries, leniency in known:
                tries.add(leniency, now)

    def was_right(self, name: str, address: str) -> None:
        """The password was right: what was guessed at that name from there is forgotten."""
        (pair, _), (all_of_there, _) = _keys(name, address)
        with self._lock:
            self._tries.pop(pair, None)
            tries = self._known(all_of_there)
            tries.number = max(0.0, tries.number - 1)

    def _known(self, key: str) -> _Tries:
        found = self._tries.setdefault(key, _Tries())
        self._tries.move_to_end(key)
        if len(self._tries) > MOST_KEPT:
            self._tries.popitem(last=False)
        return found


class HashingThreads:
    """Few threads for the hashing, so that guesses cost others neither memory nor threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, "login")
        self._lock = threading.Lock()
        self._inside = 0

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function in one of the threads; where too many wait already, say so."""
        with self._lock:
            if self._inside >= AT_ONCE + WAITING:
                raise Unavailable("Very many people log in just now; try again in a few seconds.")
            self._inside += 1
        try:
            future = self._threads.submit(function, *args, **kwargs)
            return await asyncio.wrap_future(future)
        finally:
            with self._lock:
                self._inside -= 1

    def later(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call the function without waiting for it; what goes wrong is logged."""

        def done(future: Future[object]) -> None:
            if error := future.exception():
                log.warning("What may be late has failed: %s", error)

        self._threads.submit(function, *args, **kwargs).add_done_callback(done)


def place(address: str) -> str:
    """The address; of version 6 the network, as one machine has very many addresses there."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(getattr(found, "ipv4_mapped", None) or found)


def _keys(name: str, address: str) -> tuple[tuple[str, Leniency], tuple[str, Leniency]]:
    there = place(address)
    return (f"{there} {name.strip()[:100]}", PAIR), (there, ADDRESS)
