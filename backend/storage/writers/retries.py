"""Who has begun long work waits longer for a turn to write than a person would, and then goes on.

A turn that did not come has changed nothing, so that it is asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.errors import Unavailable

Begin = Callable[[], AbstractContextManager[Session]]
TRIES = 10


def patient(begin: Begin) -> Begin:
    """Begins as `begin` does, and asks again where others write for too long."""

    @contextmanager
    def patiently() -> Iterator[Session]:
        with ExitStack() as stack:
            yield _begun(begin, stack)

    return patiently


def _begun(begin: Begin, stack: ExitStack) -> Session:
    for _ in range(TRIES - 1):
        try:
            return _once(begin, stack)
        except (Unavailable, OperationalError) as error:
            if not _only_waited(error):
                raise
    return _once(begin, stack)


def _once(begin: Begin, stack: ExitStack) -> Session:
    with ExitStack() as trying:
        session = trying.enter_context(begin())
        session.connection()  # SQLite gives the turn, or refuses it, when a transaction begins
        stack.push(trying.pop_all())
        return session


def _only_waited(error: Unavailable | OperationalError) -> bool:
    return isinstance(error, Unavailable) or "locked" in str(error.orig)
