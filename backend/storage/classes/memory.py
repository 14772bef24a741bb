"""What a process remembers of a project's classes, thousands perhaps, while nobody changes them.

The project counts the changes of its classes, whichever process makes them: what was read under
one number is true as long as the number stands.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from backend.storage.tables import ProjectRow

T = TypeVar("T")
CHANGED = "classes changed"
MOST = 200  # things that are remembered of one database


class Memory:
    """What is remembered of the projects of one database, each with its number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[int, str], tuple[int, Any]] = OrderedDict()

    def get(self, key: tuple[int, str], number: int) -> tuple[bool, Any]:
        """Whether it is known under this number, and what."""
        with self._lock:
            kept, found = self._known.get(key, (-1, None))
            if kept == number:
                self._known.move_to_end(key)
            return kept == number, found

    def keep(self, key: tuple[int, str], number: int, found: Any) -> None:
        """Remember it; what was asked for longest ago makes room."""
        with self._lock:
            self._known[key] = (number, found)
            while len(self._known) > MOST:
                self._known.popitem(last=False)


_MEMORIES: WeakKeyDictionary[Engine, Memory] = WeakKeyDictionary()


def of(session: Session, project_id: int, what: str, read: Callable[[Session, int], T]) -> T:
    """What `read` says of a project's classes, asked of the database only where they changed.

    What a transaction has changed and not committed yet is its own.
    """
    number = session.scalar(select(ProjectRow.named).where(ProjectRow.id == project_id))
    if number is None or session.info.get(CHANGED) is session.get_transaction():
        return read(session, project_id)
    memory = _MEMORIES.setdefault(session.get_bind().engine, Memory())
    is_known, found = memory.get((project_id, what), number)
    if not is_known:
        found = read(session, project_id)
        memory.keep((project_id, what), number, found)
    return cast("T", found)


def changed(session: Session, project_id: int) -> None:
    """Say that this transaction has changed the classes of a project."""
    session.info[CHANGED] = session.get_transaction()
    query = update(ProjectRow).filter_by(id=project_id).values(named=ProjectRow.named + 1)
    session.execute(query, execution_options={"synchronize_session": False})
