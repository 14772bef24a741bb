"""What a person may do about themselves: a new password, and where they are logged in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app import premises
from app.edge import login, pools
from backend.domain import Person, Role
from backend.errors import NotFound, Refused
from backend.projects import logins, people

router = APIRouter(prefix="/api", route_class=pools.Pooled)


class NewPassword(BaseModel):
    """A new password, for who knows the old one."""

    model_config = ConfigDict(extra="forbid")
    old: str = Field(max_length=1000)
    new: str = Field(max_length=1000)


@dataclass(frozen=True, slots=True)
class LoginCard:
    """A browser in which somebody is logged in; `here` is the one that asks."""

    id: str
    began: datetime
    seen: datetime
    address: str
    browser: str
    here: bool


@router.put("/me/password")
async def change_password(
    body: NewPassword, request: Request, at: premises.At, person: login.Viewer
) -> Person:
    """Give oneself another password; all other logins end."""
    if not at.door.accounts:
        raise Refused("There are no accounts here, so there is no password either.")
    here = _here(request, at)
    await at.door.change_password(person, body.old, body.new, login.browser(request), here)
    return person


@router.get("/logins")
def mine(request: Request, at: premises.At, person: login.Viewer, of: str = "") -> list[LoginCard]:
    """Where somebody is logged in: oneself, or for an admin anybody."""
    here = _here(request, at)
    with at.read() as session:
        return [_login(one, here) for one in logins.of(session, _whose(session, person, of))]


@router.delete("/logins")
def end_all(
    request: Request, at: premises.At, person: login.Viewer, of: str = ""
) -> list[LoginCard]:
    """Log somebody out everywhere; oneself everywhere but here."""
    here = _here(request, at)
    with at.write() as session:
        whose = _whose(session, person, of)
        logins.end_all(session, whose, here)
        left = logins.of(session, whose)
    at.door.forget(whose)
    return [_login(one, here) for one in left]


@router.delete("/logins/{number}")
def end(number: str, request: Request, at: premises.At, person: login.Viewer) -> list[LoginCard]:
    """Log somebody out in one browser."""
    here = _here(request, at)
    with at.write() as session:
        found = logins.find(session, number)
        if found is None or (found.person != person.name and person.role is not Role.ADMIN):
            raise NotFound("That login has ended already.")
        logins.end(session, number)
        left = logins.of(session, found.person)
    at.door.forget(found.person)
    return [_login(one, here) for one in left]


def _whose(session: Session, person: Person, of: str) -> str:
    if not of or of == person.name:
        return person.name
    login.demand(person, Role.ADMIN)
    return people.get(session, of).name


def _here(request: Request, at: premises.Premises) -> str:
    return at.door.login_of(request.cookies.get(login.COOKIE, ""))


def _login(one: logins.Login, here: str) -> LoginCard:
    return LoginCard(one.id, one.began, one.seen, one.address, one.browser, one.id == here)
