"""Projects, their classes and their people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from app import premises
from app.edge import login, pools
from backend.domain import Class, Person, Project, Task
from backend.labels import class_retirement, gallery
from backend.projects import catalogue, class_merge, classes, members
from backend.storage.writers import retries

router = APIRouter(prefix="/api", dependencies=[login.SEES], route_class=pools.Pooled)

COVERS = 4


class NewProject(BaseModel):
    """A project to be made."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=200)
    task: Task = Task.DETECT
    classes: list[str] = Field(default_factory=list, max_length=500)


class ClassEdit(BaseModel):
    """What to change of a class; None leaves it."""

    model_config = ConfigDict(extra="forbid")
    name: str | None = Field(None, max_length=200)
    color: str | None = Field(None, max_length=7)
    hotkey: str | None = Field(None, max_length=1)
    severity: int | None = None


class NewClass(BaseModel):
    """A class to be added."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=200)


class Order(BaseModel):
    """The ids of all classes in their new order."""

    model_config = ConfigDict(extra="forbid")
    classes: list[int]


class Merge(BaseModel):
    """The class that takes over."""

    model_config = ConfigDict(extra="forbid")
    into: int


class Members(BaseModel):
    """The names of those who may enter besides admins; None: everybody."""

    model_config = ConfigDict(extra="forbid")
    members: list[str] | None = Field(max_length=1000)


@dataclass(frozen=True, slots=True)
class Cover:
    """A picture that stands for a project."""

    id: int
    sha256: str
    name: str


@dataclass(frozen=True, slots=True)
class ProjectCard(Project):
    """A project among others: how many images, how many of them labelled, boxes of each class."""

    images: int = 0
    goldens: int = 0
    labelled: int = 0
    boxes: Mapping[str, int] = field(default_factory=dict)
    covers: Sequence[Cover] = ()


@dataclass(frozen=True, slots=True)
class Me(Person):
    """Who is asking, and whether there are accounts at all."""

    accounts: bool


@router.get("/me")
def me(at: premises.At, person: login.Viewer) -> Me:
    """Who is asking, and whether there are accounts at all."""
    return Me(person.name, person.role, at.door.accounts)


@router.get("/projects")
def everything(at: premises.At) -> list[ProjectCard]:
    """Every project that the person may enter, with its counts and a few pictures."""
    with at.read() as session:
        return [
            _card(found, gallery.apart(session, found.project.id, COVERS))
            for found in catalogue.summaries(session)
        ]


@router.post("/projects", status_code=201, dependencies=[login.RULES])
def create(body: NewProject, at: premises.At) -> Project:
    """Make a project."""
    with at.write() as session:
        return catalogue.create(session, body.name, body.task, body.classes)


@router.get("/projects/{project}")
def one(project: str, at: premises.At) -> Project:
    """A project with its classes."""
    with at.read() as session:
        return premises.project(session, project)


@router.get("/projects/{project}/members", dependencies=[login.RULES])
def who(project: str, at: premises.At) -> Members:
    """The names of those who may enter besides admins; null: everybody."""
    with at.read() as session:
        return _members(session, premises.project(session, project).id)


@router.put("/projects/{project}/members", dependencies=[login.RULES])
def choose(project: str, body: Members, at: premises.At) -> Members:
    """Say who may enter."""
    with at.write() as session:
        found = premises.project(session, project)
        members.choose(session, found.id, body.members)
        return _members(session, found.id)


@router.post("/projects/{project}/classes", status_code=201, dependencies=[login.RULES])
def add_class(project: str, body: NewClass, at: premises.At) -> Class:
    """Add a class at the end."""
    with at.write() as session:
        found = premises.project(session, project)
        return classes.add(session, found.id, body.name)


@router.put("/projects/{project}/classes", dependencies=[login.RULES])
def reorder(project: str, body: Order, at: premises.At) -> Project:
    """Put the classes in this order."""
    with at.write() as session:
        found = premises.project(session, project)
        classes.reorder(session, found.id, body.classes)
        return catalogue.get(session, found.id)


@router.patch("/projects/{project}/classes/{class_}", dependencies=[login.RULES])
def edit_class(project: str, class_: int, body: ClassEdit, at: premises.At) -> Class:
    """Rename a class, or change its colour, key or severity."""
    with at.write() as session:
        premises.own_class(session, project, class_)
        return classes.edit(session, class_, **body.model_dump())


@router.post("/projects/{project}/classes/{class_}/merge", dependencies=[login.RULES])
@pools.heavy
def merge(project: str, class_: int, body: Merge, at: premises.At) -> Project:
    """Make every label of this class one of another."""
    with at.read() as session:
        found = premises.own_class(session, project, class_)
    class_merge.merge(at.read, retries.patient(at.write), found.id, class_, body.into)
    with at.read() as session:
        return catalogue.get(session, found.id)


@router.get("/projects/{project}/classes/{class_}/uses", dependencies=[login.RULES])
def uses(project: str, class_: int, at: premises.At) -> class_retirement.Uses:
    """How often a class stands in the labels: said before it goes."""
    with at.read() as session:
        premises.own_class(session, project, class_)
        return class_retirement.uses(session, class_)


@router.post("/projects/{project}/classes/{class_}/retire", dependencies=[login.RULES])
@pools.heavy
def retire(project: str, class_: int, at: premises.At, person: login.Admin) -> Project:
    """Take a class out of the project, with every label of it."""
    with at.read() as session:
        found = premises.own_class(session, project, class_)
    class_retirement.retire(at.write, class_, person.name)
    with at.read() as session:
        return catalogue.get(session, found.id)


def _members(session: Session, project_id: int) -> Members:
    names = members.chosen(session, project_id)
    return Members(members=None if names is None else list(names))


def _card(found: catalogue.Summary, covers: Sequence[gallery.GalleryImage]) -> ProjectCard:
    return ProjectCard(
        found.project.id,
        found.project.name,
        found.project.task,
        found.project.classes,
        images=found.images,
        goldens=found.goldens,
        labelled=found.labelled,
        boxes=found.boxes,
        covers=[Cover(one.image.id, one.image.sha256, one.image.name) for one in covers],
    )
