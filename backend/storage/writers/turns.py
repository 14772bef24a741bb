"""Writers of one process take turns before they ask SQLite, which has no queue of its own.

Who waits holds no lock of the database, and is told when the wait was too long.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque

from sqlalchemy import Connection, Engine, event

from backend.errors import Unavailable

PATIENCE = 20.0  # seconds


class Turns:
    """One writer at a time, in the order in which they came."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    def take(self) -> None:
        """Wait for the turn."""
        called = threading.Event()
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            self._waiting.append(called)
        if not called.wait(self.patience) and not self._left(called):
            raise Unavailable(
                f"The database was busy with other changes for {self.patience:.0f} seconds; "
                "nothing was saved. Try again in a moment."
            )

    def give_back(self) -> None:
        """Let the next one write."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False

    def _left(self, called: threading.Event) -> bool:
        """Leave the queue; true where the turn came at that very moment."""
        with self._lock:
            if called in self._waiting:
                self._waiting.remove(called)
            return called.is_set()


def install(engine: Engine, reads: str) -> Turns:
    """Begin each transaction of a SQLite engine: those with the option `reads` at once."""
    turns = Turns()
    ends: weakref.WeakKeyDictionary[Connection, weakref.finalize[[], Connection]] = (
        weakref.WeakKeyDictionary()
    )

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(reads):
            connection.exec_driver_sql("BEGIN")
            return
        turns.take()
        # A connection that is dropped without an end gives its turn back, too.
        ends[connection] = weakref.finalize(connection, turns.give_back)
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        except BaseException:
            end(connection)
            raise

    def end(connection: Connection) -> None:
        if (given_back := ends.pop(connection, None)) is not None:
            given_back()

    event.listen(engine, "begin", begin)

    def commit(connection: Connection) -> None:
        # The event comes before the commit: it is done here, or the next one meets the lock.
        if connection in ends:
            connection.exec_driver_sql("COMMIT")
        end(connection)

    event.listen(engine, "commit", commit)
    event.listen(engine, "rollback", end)
    return turns
