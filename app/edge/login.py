"""Who is asking: accounts, logins and their cookies, roles."""

from __future__ import annotations

import getpass
import hmac
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Request
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.edge import guessing
from app.edge.bearers import Bearers
from backend.domain import Bearer, Person, Role
from backend.errors import Denied
from backend.projects import logins, people
from backend.storage import engine
from backend.storage.engine import Database
from backend.storage.tables import SettingRow
from backend.storage.types import now

COOKIE = "loupe_person"
LASTS = int(logins.LASTS.total_seconds())
FRESH_SECONDS = 2.0
MOST_KEPT = 10_000
SEEN_EVERY = timedelta(minutes=5)
RANKS = {Role.VIEWER: 0, Role.LABELER: 1, Role.ADMIN: 2}


@dataclass(frozen=True, slots=True)
class Browser:
    """Where somebody asks from."""

    address: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Whose a login is, as the database had it at some time."""

    at: float
    person: Person


class Door:
    """Knows people by their cookie; without accounts everybody here is the machine's owner.

    With a token of this start, the owner is only who has shown it once.
    """

    def __init__(
        self,
        database: Database,
        accounts: bool,
        token: str = "",
        guesses: guessing.Guesses | None = None,
        token_rate: int = 1200,
    ) -> None:
        self.accounts = accounts
        self.token = token
        self.required = accounts or bool(token)
        self._database = database
        self._signer = URLSafeTimedSerializer(_key(database), salt="loupe-login")
        self._owner = Person(_owner_name(), Role.ADMIN)
        self._lock = threading.Lock()
        self._seen: dict[str, _Seen] = {}
        self._shown: set[str] = set()
        self._guesses = guesses or guessing.Guesses()
        self._pool = guessing.HashingThreads()
        self.bearers = Bearers(database, None if accounts else self._owner, token_rate)

    async def who(self, cookie: str) -> Person | None:
        """The person that a cookie names; roles are looked up, so a change counts at once."""
        if not self.required:
            return self._owner
        if not self.accounts:
            return self._owner if logins.digest(cookie) in self._shown else None
        id = self.login_of(cookie)
        seen = self._seen.get(id)
        if id and (seen is None or time.monotonic() - seen.at > FRESH_SECONDS):
            # A thread waits for the database, as all others wait for the event loop.
            seen = await run_in_threadpool(self._look_up, id)
        return seen.person if seen else None

    def login_of(self, cookie: str) -> str:
        """The login that a cookie of ours is about; it may have ended."""
        try:
            return logins.digest(str(self._signer.loads(cookie, max_age=LASTS)))
        except (BadSignature, ValueError):
            return ""

    async def enter(self, name: str, password: str, browser: Browser) -> str:
        """The cookie of the person with that password."""
        _, mark = await self._checked(name, password, browser)
        return await self._pool.run(self._begin, name.strip(), mark, browser)

    async def change_password(
        self, person: Person, old: str, new: str, browser: Browser, stays: str
    ) -> None:
        """A new password for who knows the old one; only the login `stays` goes on."""
        await self._checked(person.name, old, browser)
        await self._pool.run(self._change, person.name, new, stays)
        self.forget(person.name)

    def show(self, token: str) -> str:
        """The cookie of who has shown the token of this start; empty for another token."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return ""
        secret = secrets.token_urlsafe(32)
        self._shown.add(logins.digest(secret))
        return secret

    def leave(self, cookie: str) -> None:
        """Log out: nobody enters with this cookie any more."""
        self._shown.discard(logins.digest(cookie))
        if id := self.login_of(cookie):
            with self._database.write.begin() as session:
                logins.end(session, id)
            with self._lock:
                self._seen.pop(id, None)

    def forget(self, name: str) -> None:
        """Look a person and all their logins up anew."""
        with self._lock:
            self._seen = {id: one for id, one in self._seen.items() if one.person.name != name}
        self.bearers.forget(name)

    async def _checked(self, name: str, password: str, browser: Browser) -> tuple[Person, str]:
        # Counted first: many guesses at once are many.
        self._guesses.count(name, browser.address)
        found = await self._pool.run(self._check, name, password)
        self._guesses.was_right(name, browser.address)
        return found

    def _check(self, name: str, password: str) -> tuple[Person, str]:
        with self._database.read.begin() as session:
            person = people.enter(session, name, password)
            return person, people.mark(session, person.name)

    def _begin(self, name: str, mark: str, browser: Browser) -> str:
        with self._database.write.begin() as session:
            # Another password in the meantime has ended all logins, and so ends this one.
            if people.find(session, name) is None or people.mark(session, name) != mark:
                raise Denied("The name or the password is wrong.")
            secret = logins.begin(session, name, browser.address, browser.name)
        return str(self._signer.dumps(secret))

    def _change(self, name: str, new: str, stays: str) -> None:
        with self._database.write.begin() as session:
            people.set_password(session, name, new, stays)

    def _look_up(self, id: str) -> _Seen | None:
        with self._database.read.begin() as session:
            login = logins.find(session, id)
            person = people.find(session, login.person) if login else None
        if login is None or person is None:
            with self._lock:
                self._seen.pop(id, None)
            return None
        if now() - login.seen > SEEN_EVERY:
            # Not waited for, as reading must never wait for who writes.
            self._pool.later(self._see, id)
        seen = _Seen(time.monotonic(), person)
        with self._lock:
            if len(self._seen) > MOST_KEPT:
                self._seen.clear()
            self._seen[id] = seen
        return seen

    def _see(self, id: str) -> None:
        with self._database.write.begin() as session:
            logins.see(session, id)


def give_cookie(answer: Response, cookie: str, scheme: str, lasts: int | None = LASTS) -> None:
    """Let the browser keep a cookie; behind TLS it is never sent in the open."""
    answer.set_cookie(
        COOKIE, cookie, max_age=lasts, httponly=True, samesite="lax", secure=scheme == "https"
    )


def browser(request: Request) -> Browser:
    """Where a request comes from."""
    address = request.client.host if request.client else ""
    return Browser(address, request.headers.get("user-agent", ""))


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
        who = "this token" if isinstance(person, Bearer) else person.name
        raise Denied(f"This needs the role {role.value}; {who} is a {person.role.value}.")
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
    engine.insert_new(session, SettingRow, [{"name": name, "value": new}])
    return session.get_one(SettingRow, name).value


def _owner_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"
