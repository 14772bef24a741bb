"""Commands for the classes of a project."""

from __future__ import annotations

from typing import Annotated

import typer
from sqlalchemy.orm import Session

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend import words
from backend.domain import Class
from backend.errors import NotFound
from backend.labels import class_retirement
from backend.projects import catalogue, class_merge, classes
from backend.storage.writers import retries

group = typer.Typer(help="The classes of a project.", no_args_is_help=True)

Project = Annotated[str, typer.Argument(help="Name of the project.")]
Named = Annotated[str, typer.Argument(help="Name of the class.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.add_typer(group, name="classes")


@group.command("list")
def list_(project: Project, as_json: AsJson = False) -> None:
    """List the classes in their order.

    Example: loupe classes list boards
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = classes.of(session, catalogue.find(session, project).id)
    _tell(found, as_json)


@group.command()
def add(project: Project, name: Named, as_json: AsJson = False) -> None:
    """Add a class at the end.

    Example: loupe classes add boards scratch
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        id_ = catalogue.find(session, project).id
        classes.add(session, id_, name)
        found = classes.of(session, id_)
    _tell(found, as_json)


@group.command()
def rename(
    project: Project,
    name: Named,
    new: Annotated[str, typer.Argument(help="What it is called from now on.")],
    as_json: AsJson = False,
) -> None:
    """Give a class another name; its labels, models and figures stay its own.

    Example: loupe classes rename boards short "short circuit"
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        id_ = catalogue.find(session, project).id
        classes.edit(session, _find(session, id_, name).id, name=new)
        found = classes.of(session, id_)
    _tell(found, as_json)


@group.command()
def merge(
    project: Project,
    name: Named,
    into: Annotated[str, typer.Argument(help="The class that takes its labels.")],
    as_json: AsJson = False,
) -> None:
    """Make every label of one class a label of another.

    Example: loupe classes merge boards spurr spur
    """
    with tools.open_tools() as at:
        read, write = at.database.read.begin, retries.patient(at.database.write.begin)
        with read() as session:
            id_ = catalogue.find(session, project).id
            source, target = (_find(session, id_, one).id for one in (name, into))
        class_merge.merge(read, write, id_, source, target)
        with read() as session:
            found = classes.of(session, id_)
    _tell(found, as_json)


@group.command()
def remove(
    project: Project,
    name: Named,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take a class out with every label of it; each image keeps its earlier revisions.

    Example: loupe classes remove boards scratch
    """
    with tools.open_tools() as at:
        with at.database.read.begin() as session:
            id_ = catalogue.find(session, project).id
            gone = _find(session, id_, name)
            uses = class_retirement.uses(session, gone.id)
        if uses.images and not yes:
            what = f"{words.many(uses.boxes, 'box', 'boxes')} in {words.many(uses.images, 'image')}"
            typer.confirm(f"{gone.name} has {what}. Remove it with them?", abort=True)
        class_retirement.retire(at.database.write.begin, gone.id, tools.me())
        with at.database.read.begin() as session:
            found = classes.of(session, id_)
    _tell(found, as_json)


@group.command()
def reorder(
    project: Project,
    names: Annotated[list[str], typer.Argument(help="All classes, in their new order.")],
    as_json: AsJson = False,
) -> None:
    """Put the classes in another order.

    Example: loupe classes reorder boards short open spur
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        id_ = catalogue.find(session, project).id
        classes.reorder(session, id_, [_find(session, id_, name).id for name in names])
        found = classes.of(session, id_)
    _tell(found, as_json)


def _find(session: Session, project_id: int, name: str) -> Class:
    found = classes.find(session, project_id, name)
    if found is None:
        known = ", ".join(one.name for one in classes.of(session, project_id)) or "none"
        raise NotFound(f"The project has no class named {name!r}; there are {known}.")
    return found


def _tell(found: tuple[Class, ...], as_json: bool) -> None:
    columns = ("name", "color", "hotkey", "severity")
    rows = [[getattr(one, column) for column in columns] for one in found]
    if as_json:
        terminal.document([dict(zip(columns, row, strict=True)) for row in rows])
    elif not rows:
        terminal.say("The project has no class yet. Make one: loupe classes add PROJECT NAME")
    else:
        terminal.table(columns, rows)
