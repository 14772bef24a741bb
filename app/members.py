"""What a person may not enter: each address that names a thing of a project is checked here."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from app import house, slashes
from backend.domain import Person, Role
from backend.errors import NotFound
from backend.services import members

# The names that path parameters have, and what each of them names.
THINGS: Mapping[str, str] = {
    "project": "project",
    "image": "image",
    "model": "model",
    "job": "job",
    "run": "run",
    "before": "run",
    "subject": "subject",
}
FILE = "file"


async def checked(request: Request, at: house.At) -> None:
    """Refuse what belongs to a project that the person may not enter; admins enter all."""
    person: Person | None = getattr(request.state, "person", None)
    named = {name for name in request.path_params if name in THINGS or name == FILE}
    if named and person is not None and person.role is not Role.ADMIN:
        await run_in_threadpool(_check, at, person, request.path_params)


CHECKED = Depends(checked)


def _check(at: house.House, person: Person, named: Mapping[str, str]) -> None:
    with at.read() as session:
        shut = members.hidden(session, person)
        if not shut:
            return
        for name, what in THINGS.items():
            if name not in named:
                continue
            thing = slashes.name(named[name])
            if members.project_of(session, what, thing) in shut:
                raise NotFound(f"There is no {what} {thing[:80]}, or you may not enter it.")
        if FILE in named and not members.sees_file(session, shut, named[FILE]):
            raise NotFound("There is no such picture, or you may not see it.")
