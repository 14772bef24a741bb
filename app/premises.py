"""What every route is given: the settings, the database, the files, the door."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from app.edge import slashes
from app.edge.login import Door
from backend.domain import Person, Project, Role
from backend.errors import NotFound
from backend.previews.previews import Previews
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import doors
from backend.storage.engine import Database, Sessions
from backend.storage.files import Files
from backend.storage.uploads import Uploads

STRANGER = Person("", Role.VIEWER)


@dataclass(frozen=True, slots=True)
class Premises:
    """One process's connections; made once by app.server.

    What a route is given has its `asker`: to them, what is shut is not there.
    """

    settings: Settings
    database: Database
    files: Files
    previews: Previews
    uploads: Uploads
    door: Door
    asker: Person | None = None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that only reads."""
        with self._begin(self.database.read) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that ends with a commit, or with nothing changed."""
        with self._begin(self.database.write) as session:
            yield session

    @contextmanager
    def _begin(self, sessions: Sessions) -> Iterator[Session]:
        with sessions(info=doors.asked_by(self.asker)) as session, session.begin():
            yield session


async def of(request: Request) -> Premises:
    """The premises of this process, as the one who asks sees it; async: not worth a thread."""
    whole: Premises = request.app.state.premises
    return replace(whole, asker=getattr(request.state, "person", None) or STRANGER)


def project(session: Session, named: str) -> Project:
    """The project that an address names, by its name or its id."""
    name = slashes.name(named)
    project_id = catalogue.addressed(session, name)
    if project_id is None:
        return catalogue.find(session, name)
    return catalogue.get(session, project_id)


def own_class(session: Session, named: str, class_id: int) -> Project:
    """The project that an address names, once it is sure that the class is one of its own."""
    found = project(session, named)
    if class_id not in {one.id for one in found.classes}:
        raise NotFound(f"{found.name} has no class {class_id} any more; reload the page.")
    return found


At = Annotated[Premises, Depends(of)]
