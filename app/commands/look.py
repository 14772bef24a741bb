"""Commands that only look: projects, images, settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import SecretStr

from app import terminal
from app.commands import rooms
from app.terminal import AsJson
from backend import settings as environment
from backend.services import listing, provenance, reporting
from backend.services import projects as projects_of

PAGE = listing.MOST


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (projects, images, settings, why, report):
        cli.command()(command)


def projects(as_json: AsJson = False) -> None:
    """List the projects with their counts.

    Example: loupe projects --json
    """
    with rooms.open_rooms() as at, at.database.read.begin() as session:
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
    chosen = listing.parse([*pairs, ("text", text), ("goldens", "yes" if goldens else "")])
    with rooms.open_rooms() as at, at.database.read.begin() as session:
        found = projects_of.find(session, project)
        rows = [_row(item) for item in listing.every(session, found.id, chosen)]
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


def _row(item: listing.Item) -> dict[str, Any]:
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


def why(
    name: Annotated[
        str, typer.Argument(help="A detection RUN:IMAGE:NUMBER, or a label IMAGE:BOX.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show where a detection or a label comes from, and where it went.

    Example: loupe why 12:407:0
    """
    with rooms.open_rooms() as at, at.database.read.begin() as session:
        chain = provenance.why(session, name)
    if as_json:
        links = [{"what": link.what, "text": link.text, "facts": link.facts} for link in chain]
        terminal.document({"name": name, "links": links})
    else:
        terminal.table(("what", ""), [[link.what, link.text] for link in chain])


def report(
    run: Annotated[int, typer.Argument(help="Number of the run.")],
    out: Annotated[Path, typer.Argument(help="File to write.")],
    format_name: Annotated[
        Literal["csv", "parquet", "coco"], typer.Option("--format", help="Kind of file.")
    ] = "csv",
    as_json: AsJson = False,
) -> None:
    """Write what a run found, and what people said of it, to a file.

    Example: loupe report 12 run-12.parquet --format parquet
    """
    with rooms.open_rooms() as at, at.database.read.begin() as session, out.open("wb") as file:
        size = sum(file.write(part) for part in reporting.write(session, run, format_name))
    if as_json:
        terminal.document({"run": run, "path": str(out), "bytes": size})
    else:
        terminal.say(f"{out} holds run {run} ({size:,} bytes).")
