"""What every route is given: the settings, the database, the files, the door."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from app import slashes
from app.login import Door
from backend.domain import Project
from backend.errors import NotFound
from backend.services import projects
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.previews import Previews


@dataclass(frozen=True, slots=True)
class House:
    """One process's connections; made once by app.server."""

    settings: Settings
    database: Database
    files: Files
    previews: Previews
    door: Door

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that only reads."""
        with self.database.read.begin() as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that ends with a commit, or with nothing changed."""
        with self.database.write.begin() as session:
            yield session


async def of(request: Request) -> House:
    """The house of this process; async, as nothing here is worth a thread."""
    found: House = request.app.state.house
    return found


def project(session: Session, named: str, shut: Collection[int] = ()) -> Project:
    """The project that an address names, by its name or its id, if it is not one of the shut."""
    name = slashes.name(named)
    project_id = projects.addressed(session, name)
    found = (
        projects.find(session, name) if project_id is None else projects.get(session, project_id)
    )
    if found.id in shut:
        raise NotFound(f"There is no project {name}, or you may not enter it.")
    return found


def own_class(session: Session, named: str, class_id: int) -> Project:
    """The project that an address names, once it is sure that the class is one of its own."""
    found = project(session, named)
    if class_id not in {one.id for one in found.classes}:
        raise NotFound(f"{found.name} has no class {class_id} any more; reload the page.")
    return found


At = Annotated[House, Depends(of)]
