"""Accounts: who may enter, and as what."""

from __future__ import annotations

import hashlib
import threading
from functools import cache

import argon2
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import Person, Role
from backend.errors import Denied, NotFound, Refused
from backend.projects import logins, tokens
from backend.storage import engine
from backend.storage.tables import PersonRow

SHORTEST = 8
MARK = 16
_hasher = argon2.PasswordHasher()
# Each takes 64 MB and a core while it computes.
_at_once = threading.BoundedSemaphore(2)


def add(session: Session, name: str, role: Role, password: str) -> Person:
    """Make an account."""
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise Refused("A user's name must have 1 to 100 printable characters.")
    taken = Refused(f"There is already a user named {name!r}.")
    if session.get(PersonRow, name):
        raise taken
    made = {"name": name, "role": role, "password": _hash(password)}
    if not engine.insert_new(session, PersonRow, [made]):  # by somebody at this very moment
        raise taken
    return Person(name, role)


def set_role(session: Session, name: str, role: Role) -> Person:
    """Change what a person may do; the last admin stays one."""
    row = _row(session, name)
    if role != Role.ADMIN:
        _refuse_last_admin(session, row)
    row.role = role
    return Person(name, role)


def set_password(session: Session, name: str, password: str, stays: str = "") -> None:
    """Give an account a new password; that ends its logins, but for the one that stays."""
    _row(session, name).password = _hash(password)
    logins.end_all(session, name, stays)


def remove(session: Session, name: str) -> None:
    """Close an account and end its logins and tokens; that of the last admin stays."""
    row = _row(session, name)
    _refuse_last_admin(session, row)
    logins.end_all(session, name)
    tokens.end_all(session, name)
    session.delete(row)


def enter(session: Session, name: str, password: str) -> Person:
    """The person with that name and password."""
    row = session.get(PersonRow, name.strip())
    nobody = _nobody()
    try:
        with _at_once:
            _hasher.verify(row.password if row else nobody, password)
    except argon2.exceptions.VerifyMismatchError as error:
        raise Denied("The name or the password is wrong.") from error
    if row is None:
        raise Denied("The name or the password is wrong.")
    return Person(row.name, Role(row.role))


def find(session: Session, name: str) -> Person | None:
    """The person of that name, if there is one."""
    row = session.get(PersonRow, name)
    return Person(row.name, Role(row.role)) if row else None


def get(session: Session, name: str) -> Person:
    """The person of that name."""
    row = _row(session, name)
    return Person(row.name, Role(row.role))


def mark(session: Session, name: str) -> str:
    """What is another one after each change of password."""
    return hashlib.sha256(_row(session, name).password.encode()).hexdigest()[:MARK]


def everyone(session: Session) -> list[Person]:
    """All accounts, by name."""
    rows = session.scalars(select(PersonRow).order_by(PersonRow.name))
    return [Person(row.name, Role(row.role)) for row in rows]


def _row(session: Session, name: str) -> PersonRow:
    row = session.get(PersonRow, name)
    if row is None:
        raise NotFound(f"There is no user named {name!r}.")
    return row


def _refuse_last_admin(session: Session, row: PersonRow) -> None:
    others = select(PersonRow.name).where(PersonRow.role == Role.ADMIN, PersonRow.name != row.name)
    if row.role == Role.ADMIN and session.scalar(others) is None:
        raise Refused(f"{row.name!r} is the only admin; make somebody else one first.")


@cache
def _nobody() -> str:
    """Checked when the name is unknown, so that an answer takes as long for a name that exists."""
    return _hasher.hash("nobody has this password")


def _hash(password: str) -> str:
    if len(password) < SHORTEST:
        raise Refused(f"A password must have at least {SHORTEST} characters.")
    with _at_once:
        return _hasher.hash(password)
