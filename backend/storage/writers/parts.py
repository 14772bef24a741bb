"""Long writes in parts: each holds the database for a moment, and leaves it to others as long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.errors import Unavailable
from backend.storage.tables import ProjectRow

T = TypeVar("T")
Begin = Callable[[], AbstractContextManager[Session]]
AIM = 0.02  # seconds that a part shall hold the database
# Things of a part. A busy machine is slow with few things, too: fewer would only take longer.
SMALLEST, FIRST, LARGEST = 250, 500, 20_000
TRIES = 10


def each(
    begin: Begin,
    things: Sequence[int],
    write: Callable[[Session, Sequence[int]], T],
    largest: int = LARGEST,
) -> Iterator[tuple[Sequence[int], T]]:
    """What `write` said of each part, once that is committed.

    How many things a part has follows from how long the part before it has taken.
    """
    start, size = 0, min(FIRST, largest)
    while start < len(things):
        part = things[start : start + size]
        said, took = _one(begin, part, write)
        yield part, said
        start += len(part)
        size = max(SMALLEST, min(largest, 2 * size, int(size * AIM / max(took, 1e-6))))
        if start < len(things):
            time.sleep(min(took, 2 * AIM))


def _one(
    begin: Begin, part: Sequence[int], write: Callable[[Session, Sequence[int]], T]
) -> tuple[T, float]:
    """A part, by one whose turn may take long to come: nothing is written until it does."""
    for _ in range(TRIES - 1):
        with suppress(Unavailable):
            return _once(begin, part, write)
    return _once(begin, part, write)


def _once(
    begin: Begin, part: Sequence[int], write: Callable[[Session, Sequence[int]], T]
) -> tuple[T, float]:
    """What `write` said, and the seconds that it took."""
    with begin() as session:
        session.execute(select(ProjectRow.id).limit(1))  # the wait for others is not ours
        began = time.perf_counter()
        said = write(session, part)
    return said, time.perf_counter() - began
