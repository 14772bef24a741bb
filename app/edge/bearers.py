"""Who asks by a token: looked up by its digest, counted, and refused where it asks too often."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.concurrency import run_in_threadpool

from app.edge import guessing
from backend.domain import Bearer, Person
from backend.errors import Refused
from backend.projects import tokens
from backend.storage import types
from backend.storage.engine import Database

FRESH_SECONDS = 2.0
SEEN_EVERY = timedelta(minutes=1)
MOST_KEPT = 10_000
WRONG_A_MINUTE = 60
SCHEME = "bearer "


class TooMany(Refused):
    """More requests than a token may make."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many requests by this token; wait {seconds} s and ask again.")
        self.seconds = seconds


class Rate:
    """So many a minute by each name, and half a minute's worth of them at once."""

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._refill = a_minute / 60
        self._most = max(1.0, a_minute / 2)
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, cost: float = 1.0) -> None:
        """One more; refused where there are none left. A `cost` of 0 only asks."""
        now = self._clock()
        with self._lock:
            left, at = self._left.get(name, (self._most, now))
            left = min(self._most, left + (now - at) * self._refill)
            if left < 1:
                raise TooMany(math.ceil((1 - left) / self._refill))
            self._left[name] = (left - cost, now)
            self._left.move_to_end(name)
            if len(self._left) > MOST_KEPT:
                self._left.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    at: float
    bearer: Bearer


class Bearers:
    """Knows who asks by a token; without accounts some are the `owner`'s."""

    def __init__(
        self, database: Database, owner: Person | None, a_minute: int, wrong: int = WRONG_A_MINUTE
    ) -> None:
        self._database = database
        self._owner = owner
        self._rate, self._wrong = Rate(a_minute), Rate(wrong)
        self._lock = threading.Lock()
        self._seen: dict[str, _Seen] = {}
        self._shown: dict[int, datetime] = {}
        self._pool = guessing.HashingThreads()

    async def who(self, headers: Mapping[str, str], address: str) -> Bearer | None:
        """Who asks, told by the header Authorization alone."""
        shown = headers.get("authorization", "")
        if shown[: len(SCHEME)].lower() != SCHEME:
            return None
        digest = tokens.digest(shown[len(SCHEME) :].strip())
        if not digest:
            return None
        place = guessing.place(address)
        if digest not in self._seen:
            # Who was let in before does not wait for what others guess.
            self._wrong.take(place, 0.0)
        found = await self._of(digest)
        if found is None:
            self._wrong.take(place)
        else:
            self._rate.take(str(found.token))
        return found

    def forget(self, name: str) -> None:
        """Look a person's tokens up anew."""
        with self._lock:
            self._seen = {id: one for id, one in self._seen.items() if one.bearer.name != name}

    async def _of(self, digest: str) -> Bearer | None:
        seen = self._seen.get(digest)
        if seen is None or time.monotonic() - seen.at > FRESH_SECONDS:
            return await run_in_threadpool(self._look_up, digest)
        return seen.bearer

    def _look_up(self, digest: str) -> Bearer | None:
        with self._database.read.begin() as session:
            found = tokens.find(session, digest, self._owner)
        with self._lock:
            self._seen.pop(digest, None)
            if found is not None:
                if len(self._seen) > MOST_KEPT:
                    self._seen.clear()
                self._seen[digest] = _Seen(time.monotonic(), found)
        if found is not None:
            self._say_used(found.token)
        return found

    def _say_used(self, token: int) -> None:
        """Not waited for, as reading must never wait for who writes."""
        at = types.now()
        if at - self._shown.get(token, at - SEEN_EVERY) >= SEEN_EVERY:
            self._shown[token] = at
            self._pool.later(self._see, token)

    def _see(self, token: int) -> None:
        with self._database.write.begin() as session:
            tokens.see(session, token)
