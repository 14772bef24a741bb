"""Where people are logged in: each browser one login, listed and ended one by one."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from backend.storage.tables import LoginRow
from backend.storage.types import now

LASTS = timedelta(days=14)
LONGEST_ADDRESS, LONGEST_BROWSER = 100, 200


@dataclass(frozen=True, slots=True)
class Login:
    """A browser in which somebody is logged in."""

    id: str
    person: str
    began: datetime
    seen: datetime
    address: str
    browser: str


def begin(session: Session, person: str, address: str = "", browser: str = "") -> str:
    """Log a person in; gives the secret that only the browser keeps."""
    session.execute(delete(LoginRow).where(LoginRow.began < now() - LASTS))
    secret = secrets.token_urlsafe(32)
    row = LoginRow(id=digest(secret), person=person)
    row.address, row.browser = address[:LONGEST_ADDRESS], browser[:LONGEST_BROWSER]
    session.add(row)
    session.flush()
    return secret


def digest(secret: str) -> str:
    """What the database keeps of a secret, from which nobody can make a cookie."""
    return hashlib.sha256(secret.encode()).hexdigest()


def find(session: Session, id: str) -> Login | None:
    """The login of that number, if it has not ended."""
    row = session.get(LoginRow, id)
    return _login(row) if row and row.began >= now() - LASTS else None


def of(session: Session, person: str) -> list[Login]:
    """Where a person is logged in, the one that was seen last first."""
    query = select(LoginRow).where(LoginRow.person == person, LoginRow.began >= now() - LASTS)
    return [_login(row) for row in session.scalars(query.order_by(LoginRow.seen.desc()))]


def see(session: Session, id: str) -> None:
    """Somebody works there now."""
    session.execute(update(LoginRow).where(LoginRow.id == id).values(seen=now()))


def end(session: Session, id: str) -> None:
    """Log out there."""
    session.execute(delete(LoginRow).where(LoginRow.id == id))


def end_all(session: Session, person: str, stays: str = "") -> None:
    """Log a person out everywhere, but for one login that may stay."""
    mine = LoginRow.person == person
    session.execute(delete(LoginRow).where(mine, LoginRow.id != stays))


def _login(row: LoginRow) -> Login:
    return Login(row.id, row.person, row.began, row.seen, row.address, row.browser)
