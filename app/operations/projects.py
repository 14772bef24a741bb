"""Projects, as programs ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from app.operations.operation import Asked, Desk, Operation, Paged
from backend.domain import Bearer, Class, Project, Role, Task
from backend.errors import Denied
from backend.projects import catalogue


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """A project: its images without goldens, how many are labelled, boxes of each class."""

    id: int
    name: str
    task: Task
    classes: Sequence[Class]
    images: int
    goldens: int
    labelled: int
    boxes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A part of the projects; `next` leads to the one after it, and is empty at the end."""

    items: Sequence[ProjectSummary]
    next: str


class NewProject(Asked):
    """A project to be made."""

    name: str = Field(max_length=200)
    task: Task = Task.DETECT
    classes: list[str] = Field(default_factory=list, max_length=500)


def projects(desk: Desk, asked: Paged) -> ProjectPage:
    """The projects that one may enter, with their counts."""
    after = asked.number()
    found = sorted(catalogue.summaries(desk.session), key=lambda one: one.project.id)
    rest = [one for one in found if one.project.id > after]
    items = [_summary(one) for one in rest[: asked.limit]]
    more = len(rest) > len(items)
    return ProjectPage(items, str(items[-1].id) if more else "")


def create_project(desk: Desk, asked: NewProject) -> Project:
    """Make a project."""
    if isinstance(desk.person, Bearer) and desk.person.projects is not None:
        raise Denied("This token is for some projects alone, so it can make none.")
    return catalogue.create(desk.session, asked.name, asked.task, asked.classes)


OPERATIONS = (
    Operation("GET", "/projects", Role.VIEWER, projects, {"limit": 10}),
    Operation(
        "POST",
        "/projects",
        Role.ADMIN,
        create_project,
        {"name": "boards", "classes": ["open", "short"]},
    ),
)


def _summary(one: catalogue.Summary) -> ProjectSummary:
    of = one.project
    return ProjectSummary(
        of.id, of.name, of.task, of.classes, one.images, one.goldens, one.labelled, one.boxes
    )
