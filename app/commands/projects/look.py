"""Commands that only look: projects, images, settings."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from pydantic import SecretStr

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend import settings as environment
from backend.labels import gallery
from backend.projects import catalogue as projects_of

PAGE = gallery.MOST


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (projects, images, settings):
        cli.command()(command)


def projects(as_json: AsJson = False) -> None:
    """List the projects with their counts.

    Example: loupe projects --json
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = projects_of.summaries(session)
    rows = [
        {
            "name": one.project.name,
            "task": one.project.task.value,
            "images": one.images,
            "goldens": one.goldens,
            "boxes": sum(one.boxes.values()),
            "classes": one.boxes,
        }
        for one in found
    ]
    if as_json:
        terminal.document(rows)
    elif not rows:
        terminal.say("There is no project yet. Draw one: loupe sample demo")
    else:
        columns = ("name", "task", "images", "goldens", "boxes")
        terminal.table(columns, [[row[name] for name in columns] for row in rows])


def images(
    project: Annotated[str, typer.Argument(help="Name of the project.")],
    state: Annotated[list[str] | None, typer.Option(help="Only images in this state.")] = None,
    split: Annotated[list[str] | None, typer.Option(help="Only images of this split.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--class", help="Only with this class.")] = None,
    text: Annotated[str, typer.Option(help="Only names that contain this text.")] = "",
    goldens: Annotated[bool, typer.Option("--goldens", help="The goldens instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the images of a project.

    Example: loupe images demo --state new --class short
    """
    named = [("state", state), ("split", split), ("class", kind)]
    pairs = [(name, value) for name, values in named for value in values or ()]
    chosen = gallery.parse([*pairs, ("text", text), ("goldens", "yes" if goldens else "")])
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = projects_of.find(session, project)
        rows = [_row(item) for item in gallery.every(session, found.id, chosen)]
    if as_json:
        terminal.document(rows)
    else:
        columns = ("id", "name", "state", "split", "group", "width", "height", "boxes")
        terminal.table(columns, [[row[name] for name in columns] for row in rows])


def settings(as_json: AsJson = False) -> None:
    """List every setting with its value; secrets are masked.

    Example: LOUPE_HOME=/data/loupe loupe settings
    """
    chosen = environment.current()
    values = {f"LOUPE_{name.upper()}": _shown(getattr(chosen, name)) for name in _fields()}
    if as_json:
        terminal.document(values)
        return
    described = [(name, values[f"LOUPE_{name.upper()}"], said) for name, said in _fields().items()]
    terminal.table(
        ("setting", "value", "what it is"),
        [(f"LOUPE_{name.upper()}", value, said) for name, value, said in described],
    )


def _fields() -> dict[str, str]:
    fields = environment.Settings.model_fields
    return {name: field.description or "" for name, field in fields.items()}


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else ""
    return "" if value is None else str(value)


def _row(item: gallery.GalleryImage) -> dict[str, Any]:
    image = item.image
    return {
        "id": image.id,
        "name": image.name,
        "state": image.state.value,
        "split": image.split.value if image.split else "",
        "group": image.group,
        "width": image.width,
        "height": image.height,
        "label": image.label,
        "boxes": len(item.boxes),
        "sha256": image.sha256,
    }
