"""Accounts: who may enter, and as what; for admins."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from app import premises
from app.edge import login, pools
from backend.domain import Person, Role
from backend.projects import members, people

router = APIRouter(prefix="/api/people", dependencies=[login.RULES], route_class=pools.Pooled)


class NewAccount(BaseModel):
    """A new account."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=100)
    role: Role
    password: str = Field(max_length=1000)


class Edit(BaseModel):
    """What to change of an account; None leaves it."""

    model_config = ConfigDict(extra="forbid")
    role: Role | None = None
    password: str | None = Field(None, max_length=1000)


@router.get("")
def everyone(at: premises.At) -> list[Person]:
    """All accounts."""
    with at.read() as session:
        return people.everyone(session)


@router.post("", status_code=201)
def add(body: NewAccount, at: premises.At) -> Person:
    """Make an account."""
    with at.write() as session:
        return people.add(session, body.name, body.role, body.password)


@router.delete("/{person:path}")
def remove(person: str, at: premises.At) -> list[Person]:
    """Close an account; what the person did stays."""
    with at.write() as session:
        people.remove(session, person)
        members.leave(session, person)
        found = people.everyone(session)
    at.door.forget(person)
    return found


@router.patch("/{person:path}")
def edit(person: str, body: Edit, request: Request, at: premises.At) -> list[Person]:
    """Change a role, or give a new password, which ends all other logins of that person."""
    here = at.door.login_of(request.cookies.get(login.COOKIE, ""))
    with at.write() as session:
        people.get(session, person)
        if body.role is not None:
            people.set_role(session, person, body.role)
        if body.password is not None:
            people.set_password(session, person, body.password, here)
        found = people.everyone(session)
    at.door.forget(person)
    return found
