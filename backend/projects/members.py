"""Who works in a project: everybody with an account, or those that an admin has named."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.projects import catalogue, people
from backend.storage.doors import MEMBERS
from backend.storage.tables import ImageRow, ProjectRow


def chosen(session: Session, project_id: int) -> tuple[str, ...] | None:
    """The names of those who may enter a project besides admins; None: everybody."""
    found = catalogue.options(session, project_id).get(MEMBERS)
    return None if found is None else tuple(found)


def choose(session: Session, project_id: int, names: Iterable[str] | None) -> None:
    """Name those who may enter a project besides admins; None opens it to everybody."""
    wanted = None if names is None else sorted(set(names))
    known = {one.name for one in people.everyone(session)}
    for name in wanted or ():
        if name not in known:
            raise NotFound(f"There is no user named {name!r}.")
    catalogue.set_option(session, project_id, MEMBERS, wanted)


def leave(session: Session, name: str) -> None:
    """Take a person out of every project, so that nobody of the same name comes in later."""
    for project_id in session.scalars(select(ProjectRow.id)).all():
        names = chosen(session, project_id)
        if names is not None and name in names:
            left = [one for one in names if one != name]
            catalogue.set_option(session, project_id, MEMBERS, left)


def sees_file(session: Session, sha256: str) -> bool:
    """Whether a picture is part of any project that the asker may enter."""
    query = select(ImageRow.id).where(
        ImageRow.project_id.in_(select(ProjectRow.id)), ImageRow.sha256 == sha256
    )
    return session.scalar(query.limit(1)) is not None
