"""Tokens: programs ask by them in a person's name, and may never do more than that person."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.domain import Bearer, Person, Role
from backend.errors import NotFound, Refused
from backend.projects import logins
from backend.storage.tables import PersonRow, TokenRow, TokenUseRow
from backend.storage.types import now

LASTS = 90
LONGEST = 3650  # days
SIGN = "loupe_"
SHAPE = re.compile(SIGN + r"[\w-]{43}", re.ASCII)
RANKS = (Role.VIEWER, Role.LABELER, Role.ADMIN)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is listed; without a `person` it is the owner's, where there are no accounts.

    `projects` are the only ones that it enters; None: all that its person does.
    """

    id: int
    name: str
    person: str
    role: Role
    projects: tuple[int, ...] | None
    made: datetime
    expires: datetime | None
    seen: datetime | None


@dataclass(frozen=True, slots=True)
class Use:
    """Something that was changed by a token."""

    at: datetime
    token: str
    person: str
    operation: str
    subject: str


def add(
    session: Session,
    name: str,
    person: str = "",
    role: Role | None = None,
    projects: Sequence[int] | None = None,
    days: int = LASTS,
) -> tuple[Token, str]:
    """Make a token, and the secret that is shown once; without a role it has its person's."""
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise Refused("A token's name must have 1 to 100 printable characters.")
    if not 0 <= days <= LONGEST:
        raise Refused(f"A token expires after 1 to {LONGEST:,} days; 0: never.")
    if _row(session, name) is not None:
        raise Refused(f"There is already a token named {name!r}; remove it, or choose another one.")
    most = _role(session, person)
    if most is None:
        raise NotFound(f"There is no user named {person!r}.")
    if role is not None and _least(role, most) is not role:
        raise Refused(f"{person} is a {most.value}, so no token of theirs is a {role.value}.")
    secret = SIGN + secrets.token_urlsafe(32)
    row = TokenRow(name=name, digest=logins.digest(secret), person=person, role=role or most)
    row.projects = None if projects is None else sorted(set(projects))
    row.expires = now() + timedelta(days=days) if days else None
    session.add(row)
    session.flush()
    return _token(row), secret


def everything(session: Session) -> list[Token]:
    """The tokens that have not ended, by name."""
    rows = session.scalars(select(TokenRow).filter_by(ended=None).order_by(TokenRow.name))
    return [_token(row) for row in rows]


def end(session: Session, name: str) -> None:
    """Nobody enters by this token any more; what it did stays written."""
    row = _row(session, name)
    if row is None:
        raise NotFound(f"There is no token named {name!r}.")
    row.ended = now()


def end_all(session: Session, person: str | None = None) -> None:
    """End the tokens of a person, or of everybody."""
    query = update(TokenRow).where(TokenRow.ended.is_(None))
    session.execute(
        (query if person is None else query.filter_by(person=person)).values(ended=now())
    )


def digest(secret: str) -> str:
    """What the database keeps of a token's secret; nothing for what cannot be one."""
    return logins.digest(secret) if SHAPE.fullmatch(secret) else ""


def find(session: Session, digest: str, owner: Person | None) -> Bearer | None:
    """Who asks by the token of that digest, with the role that is left of it by now.

    A token without a person is the owner's, and nobody's where there are accounts.
    """
    row = session.scalar(select(TokenRow).filter_by(digest=digest, ended=None))
    if row is None or not hmac.compare_digest(row.digest, digest):
        return None
    if row.expires is not None and row.expires <= now():
        return None
    most = _role(session, row.person)
    if most is None or (owner is None and not row.person):
        return None
    name = row.person or (owner.name if owner else "")
    named = None if row.projects is None else frozenset(row.projects)
    return Bearer(name, _least(Role(row.role), most), row.id, most, named)


def see(session: Session, token_id: int) -> None:
    """Somebody asks by it now."""
    session.execute(update(TokenRow).filter_by(id=token_id).values(seen=now()))


def earlier(session: Session, bearer: Bearer, key: str, digest: str) -> str | None:
    """What was answered before to what is sent again under its key; None: nothing was."""
    query = select(TokenUseRow).filter_by(token_id=bearer.token, idempotency_key=key)
    row = session.scalar(query) if key else None
    if row is not None and row.digest != digest:
        raise Refused(f"Something else was sent under the key {key!r}; take another key for it.")
    return row.answer if row else None


def used(
    session: Session, bearer: Bearer, operation: str, subject: str, key: str, digest: str
) -> TokenUseRow:
    """Write down what a token changes; who sends the same key meanwhile waits, and is refused."""
    row = TokenUseRow(token_id=bearer.token, person=bearer.name, operation=operation)
    row.subject, row.idempotency_key, row.digest = subject, key or None, digest
    session.add(row)
    session.flush()
    return row


def uses(session: Session, name: str = "", most: int = 100) -> list[Use]:
    """What was changed by tokens, or by those of one name, the newest first."""
    query = (
        select(TokenUseRow, TokenRow.name)
        .join(TokenRow, TokenRow.id == TokenUseRow.token_id)
        .order_by(TokenUseRow.id.desc())
        .limit(most)
    )
    found = session.execute(query.where(TokenRow.name == name) if name else query)
    return [Use(row.at, token, row.person, row.operation, row.subject) for row, token in found]


def _row(session: Session, name: str) -> TokenRow | None:
    return session.scalar(select(TokenRow).filter_by(name=name.strip(), ended=None))


def _role(session: Session, person: str) -> Role | None:
    """The role of a person; the owner's, who has no account, is to do everything."""
    if not person:
        return Role.ADMIN
    found = session.get(PersonRow, person)
    return Role(found.role) if found else None


def _least(one: Role, other: Role) -> Role:
    return min(one, other, key=RANKS.index)


def _token(row: TokenRow) -> Token:
    named = None if row.projects is None else tuple(row.projects)
    return Token(
        row.id, row.name, row.person, Role(row.role), named, row.made, row.expires, row.seen
    )
