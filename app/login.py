"""Who is asking: accounts, the signed cookie, roles, and how often one may try."""

from __future__ import annotations

import getpass
import secrets
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from backend.domain import Person, Role
from backend.errors import Denied, Refused
from backend.services import people
from backend.storage.engine import Database
from backend.storage.tables import SettingRow

COOKIE = "loupe_person"
TWO_WEEKS = 14 * 24 * 3600
TRIES = 8
# Many people may share one address.
TRIES_FROM_ONE_ADDRESS = 60
PER_SECONDS = 60.0
FRESH_SECONDS = 2.0
RANKS = {Role.VIEWER: 0, Role.LABELER: 1, Role.ADMIN: 2}


class TooOften(Refused):
    """Too many wrong passwords in a short time."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A person as the database had them at some time, and what their cookie must have."""

    at: float
    person: Person | None
    mark: str


class Door:
    """Knows people by their cookie; without accounts everybody here is the machine's owner."""

    def __init__(self, database: Database, required: bool) -> None:
        self.required = required
        self._database = database
        self._signer = URLSafeTimedSerializer(_key(database), salt="loupe-person")
        self._owner = Person(_owner_name(), Role.ADMIN)
        self._lock = threading.Lock()
        self._failures: dict[str, deque[float]] = {}
        self._seen: dict[str, _Seen] = {}

    async def who(self, cookie: str) -> Person | None:
        """The person that a cookie names; roles are looked up, so a change counts at once."""
        if not self.required:
            return self._owner
        try:
            name, mark = self._signer.loads(cookie, max_age=TWO_WEEKS)
        except (BadSignature, ValueError):
            return None
        seen = self._seen.get(name)
        if seen is None or time.monotonic() - seen.at > FRESH_SECONDS:
            # A thread waits for the database, as all others wait for the event loop.
            seen = await run_in_threadpool(self._look_up, name)
        return seen.person if seen.mark == mark else None

    def enter(self, name: str, password: str, address: str) -> str:
        """The cookie of the person with that password; wrong ones are counted."""
        keys = (f"name {name.strip()[:100]}", f"address {address}")
        self._refuse_hasty(keys[0], TRIES)
        self._refuse_hasty(keys[1], TRIES_FROM_ONE_ADDRESS)
        with self._database.read.begin() as session:
            try:
                person = people.enter(session, name, password)
                mark = people.mark(session, person.name)
            except Denied:
                self._count(keys)
                raise
        self.forget(person.name)
        return self._signer.dumps((person.name, mark))

    def _look_up(self, name: str) -> _Seen:
        with self._database.read.begin() as session:
            person = people.find(session, name)
            mark = people.mark(session, name) if person else ""
        seen = _Seen(time.monotonic(), person, mark)
        with self._lock:
            self._seen[name] = seen
        return seen

    def forget(self, name: str) -> None:
        """Look the person up anew, and forgive earlier wrong passwords."""
        with self._lock:
            self._seen.pop(name, None)
            self._failures.pop(f"name {name}", None)

    def _refuse_hasty(self, key: str, most: int) -> None:
        with self._lock:
            failures = self._failures.get(key, deque())
            while failures and failures[0] < time.monotonic() - PER_SECONDS:
                failures.popleft()
            if len(failures) >= most:
                raise TooOften("Too many wrong passwords; wait a minute and try again.")

    def _count(self, keys: tuple[str, ...]) -> None:
        with self._lock:
            if len(self._failures) > 10_000:
                self._failures.clear()
            for key in keys:
                self._failures.setdefault(key, deque()).append(time.monotonic())


async def person(request: Request) -> Person:
    """Who asks; the gate has put it there."""
    found: Person | None = getattr(request.state, "person", None)
    if found is None:
        raise Denied("Log in first.")
    return found


def allows(person: Person, role: Role) -> bool:
    """Whether a person has at least that role."""
    return RANKS[person.role] >= RANKS[role]


def demand(person: Person, role: Role) -> Person:
    """Refuse a person whose role is too small."""
    if not allows(person, role):
        raise Denied(f"This needs the role {role.value}; {person.name} is a {person.role.value}.")
    return person


async def labeler(asking: Annotated[Person, Depends(person)]) -> Person:
    """A person who may label and review."""
    return demand(asking, Role.LABELER)


async def admin(asking: Annotated[Person, Depends(person)]) -> Person:
    """A person who may do everything."""
    return demand(asking, Role.ADMIN)


SEES = Depends(person)
LABELS = Depends(labeler)
RULES = Depends(admin)
Viewer = Annotated[Person, Depends(person)]
Labeler = Annotated[Person, Depends(labeler)]
Admin = Annotated[Person, Depends(admin)]


def _key(database: Database) -> str:
    with database.write.begin() as session:
        return _kept(session, "cookie_key", secrets.token_urlsafe(32))


def _kept(session: Session, name: str, new: str) -> str:
    row = session.get(SettingRow, name)
    if row is None:
        session.add(row := SettingRow(name=name, value=new))
    return row.value


def _owner_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"
