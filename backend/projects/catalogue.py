"""Projects: make, find, list, and what each has chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.domain import Project, Task
from backend.errors import NotFound, Refused
from backend.projects import classes as kinds
from backend.storage import engine
from backend.storage.classes import class_names
from backend.storage.tables import BoxRow, ImageRow, ProjectRow

NAMED = 5
# One that was removed is found no more, while its rows go.
THERE = ProjectRow.removed.is_(None)
# A database keeps no number with more digits.
LONGEST_ID = 18
FOLDERS = (".", "..")


@dataclass(frozen=True, slots=True)
class Summary:
    """A project with the counts that lists show."""

    project: Project
    images: int
    goldens: int
    labelled: int
    boxes: dict[str, int]


def create(
    session: Session, name: str, task: Task = Task.DETECT, classes: Sequence[str] = ()
) -> Project:
    """Make a project; its name must be free."""
    name = refuse_taken(session, name)
    if not _make(session, name, task):
        raise _taken(name)
    made = find(session, name)
    if not classes:
        return made
    kinds.ensure_all(session, made.id, classes)
    return get(session, made.id)


def refuse_taken(session: Session, name: str) -> str:
    """The name, if a new project may have it: asked before long work is done for it."""
    name = kinds.check_name(name, "project")
    if name in FOLDERS:
        raise Refused(f"{name!r} means a folder in an address; choose another name.")
    if session.scalar(select(ProjectRow.id).where(ProjectRow.name == name)):
        raise _taken(name)
    return name


def _make(session: Session, name: str, task: Task) -> bool:
    """Make its row; false where somebody else has made one at this very moment."""
    return bool(engine.insert_new(session, ProjectRow, [{"name": name, "task": task}]))


def _taken(name: str) -> Refused:
    return Refused(f"There is already a project named {name!r}; choose another name.")


def find(session: Session, name: str) -> Project:
    """The project of that name."""
    row = session.scalar(select(ProjectRow).where(ProjectRow.name == name, THERE))
    if row is None:
        raise NotFound(f"There is no project named {name!r}{_others(session)}.")
    return _project(session, row)


def known(session: Session, name: str) -> bool:
    """Whether there is a project of that name."""
    return session.scalar(select(ProjectRow.id).where(ProjectRow.name == name)) is not None


def addressed(session: Session, named: str) -> int | None:
    """The id of the project of that name, else of the one with that number."""
    found = session.scalar(select(ProjectRow.id).where(ProjectRow.name == named, THERE))
    if found is not None or not named.isdecimal() or len(named) > LONGEST_ID:
        return found
    return session.scalar(select(ProjectRow.id).where(ProjectRow.id == int(named), THERE))


def get(session: Session, project_id: int) -> Project:
    """The project with that id."""
    row = session.get(ProjectRow, project_id)
    if row is None or row.removed is not None:
        raise NotFound(f"There is no project {project_id}.")
    return _project(session, row)


def find_or_create(session: Session, name: str, task: Task = Task.DETECT) -> Project:
    """The project of that name, made if it is not there."""
    if not known(session, name):
        name = refuse_taken(session, name)
        _make(session, name, task)
    return find(session, name)


def options(session: Session, project_id: int) -> dict[str, Any]:
    """What a project has chosen, by name."""
    get(session, project_id)
    return dict(session.scalars(select(ProjectRow.options).filter_by(id=project_id)).one())


def set_option(session: Session, project_id: int, name: str, value: Any) -> None:
    """Choose something for a project."""
    lock(session, project_id)
    chosen = options(session, project_id) | {name: value}
    session.execute(update(ProjectRow).filter_by(id=project_id).values(options=chosen))


def lock(session: Session, project_id: int) -> None:
    """Let nobody else change the project's row until the transaction ends; rows may be added."""
    query = select(ProjectRow.id).filter_by(id=project_id)
    session.execute(query.with_for_update(key_share=True))


def _others(session: Session) -> str:
    names = session.scalars(
        select(ProjectRow.name).where(THERE).order_by(ProjectRow.name).limit(NAMED)
    ).all()
    return f"; there is {', '.join(names)}" if names else ""


def names(session: Session, ids: Iterable[int]) -> dict[int, str]:
    """What these projects are called."""
    query = select(ProjectRow.id, ProjectRow.name).where(ProjectRow.id.in_(set(ids)))
    return {project_id: name for project_id, name in session.execute(query)}


def summaries(session: Session) -> list[Summary]:
    """Every project with its counts, by name."""
    rows = session.scalars(select(ProjectRow).where(THERE).order_by(ProjectRow.name)).all()
    return [_summary(session, _project(session, row)) for row in rows]


def _project(session: Session, row: ProjectRow) -> Project:
    return Project(row.id, row.name, Task(row.task), kinds.of(session, row.id))


def _summary(session: Session, project: Project) -> Summary:
    here = (ImageRow.project_id == project.id) & ImageRow.deleted.is_(None)
    counts = session.execute(
        select(
            func.count().filter(~ImageRow.is_golden),
            func.count().filter(ImageRow.is_golden),
            func.count().filter(~ImageRow.is_golden & (ImageRow.state == "done")),
        )
        .select_from(ImageRow)
        .where(here)
    ).one()
    boxes = session.execute(
        select(BoxRow.class_id, func.count())
        .join(ImageRow, ImageRow.id == BoxRow.image_id)
        .where(here)
        .group_by(BoxRow.class_id)
    ).all()
    names, by_name = class_names.of(session, project.id), Counter[str]()
    for class_id, count in boxes:
        by_name[names.name(class_id)] += count
    images, goldens, labelled = counts
    named = {kind.name: by_name[kind.name] for kind in project.classes}
    return Summary(project, images, goldens, labelled, named)
