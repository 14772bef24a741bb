"""Who works in a project: everybody with an account, or those that an admin has named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import DetectionRef, Person, Role
from backend.errors import NotFound
from backend.services import people, projects, provenance
from backend.storage.tables import ImageRow, JobRow, ModelRow, ProjectRow, RunRow

OPTION = "members"
OWNERS: Mapping[str, Any] = {"image": ImageRow, "model": ModelRow, "job": JobRow, "run": RunRow}


def chosen(session: Session, project_id: int) -> tuple[str, ...] | None:
    """The names of those who may enter a project besides admins; None: everybody."""
    found = projects.options(session, project_id).get(OPTION)
    return None if found is None else tuple(found)


def choose(session: Session, project_id: int, names: Iterable[str] | None) -> None:
    """Name those who may enter a project besides admins; None opens it to everybody."""
    wanted = None if names is None else sorted(set(names))
    known = {one.name for one in people.everyone(session)}
    for name in wanted or ():
        if name not in known:
            raise NotFound(f"There is no user named {name!r}.")
    projects.set_option(session, project_id, OPTION, wanted)


def leave(session: Session, name: str) -> None:
    """Take a person out of every project, so that nobody of the same name comes in later."""
    for project_id in session.scalars(select(ProjectRow.id)).all():
        names = chosen(session, project_id)
        if names is not None and name in names:
            left = [one for one in names if one != name]
            projects.set_option(session, project_id, OPTION, left)


def hidden(session: Session, person: Person) -> frozenset[int]:
    """The projects that a person may not enter."""
    if person.role is Role.ADMIN:
        return frozenset()
    rows = session.execute(select(ProjectRow.id, ProjectRow.options))
    return frozenset(id_ for id_, options in rows if not _enters(options.get(OPTION), person))


def sees_file(session: Session, shut: Iterable[int], sha256: str) -> bool:
    """Whether a picture is part of any project but these."""
    query = select(ImageRow.id).where(
        ImageRow.sha256 == sha256, ImageRow.project_id.not_in(list(shut))
    )
    return session.scalar(query.limit(1)) is not None


def project_of(session: Session, what: str, name: str) -> int | None:
    """The project that a thing belongs to; None where there is no such thing, or it has none."""
    if what == "project":
        return projects.addressed(session, name)
    if what == "subject":
        return _of_subject(session, name)
    owner = OWNERS[what]
    return session.scalar(select(owner.project_id).where(owner.id == int(name)))


def _enters(names: list[str] | None, person: Person) -> bool:
    return names is None or person.name in names


def _of_subject(session: Session, name: str) -> int | None:
    subject = provenance.parse(name)
    image = subject.image_id if isinstance(subject, DetectionRef) else subject[0]
    return project_of(session, "image", str(image))
