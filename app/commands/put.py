"""Commands that put pictures into a project, and take labels out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from app import terminal
from app.commands import rooms
from app.terminal import AsJson
from backend.errors import Refused
from backend.services import projects

SHOWN = 20

Project = Annotated[str, typer.Argument(help="Name of the project; made if it is not there.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.command()(sample)
    cli.command("import")(import_)
    cli.command()(export)


def sample(
    project: Annotated[str, typer.Argument(help="Name of the project to be made.")],
    kind: Annotated[Literal["pcb", "mask"], typer.Option(help="Boards, or faces.")] = "pcb",
    images: Annotated[int, typer.Option(help="How many pictures.", min=1, max=100_000)] = 60,
    seed: Annotated[int, typer.Option(help="The same seed draws the same pictures.")] = 0,
    look: Annotated[
        Literal["binary", "colour"], typer.Option(help="Look of the boards.")
    ] = "binary",
    as_json: AsJson = False,
) -> None:
    """Draw a sample project, with goldens, defects and labels.

    Example: loupe sample demo --kind pcb --images 200
    """
    from backend.services import sampling

    with (
        rooms.open_rooms() as at,
        terminal.progress(f"Drawing {project}", images, quiet=as_json) as told,
    ):
        with at.database.read.begin() as session:
            projects.refuse_taken(session, project)
        drawn = sampling.draw(at.files, kind, images, seed, look, told)
        with at.database.write.begin() as session:
            made = sampling.create(session, project, kind, drawn)
    answer = {"project": made.name, "images": images, "classes": [one.name for one in made.classes]}
    if as_json:
        terminal.document(answer)
    else:
        terminal.say(f"{made.name} has {images:,} drawn pictures. Look at them: loupe")


def import_(
    project: Project,
    source: Annotated[str, typer.Argument(help="A folder, an archive, a label file, a picture.")],
    format_: Annotated[
        str, typer.Option("--format", help="auto, deeppcb, voc, yolo, coco or folders.")
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Bring pictures and their labels into a project; what is there already is skipped.

    Example: loupe import boards ~/data/DeepPCB --format auto
    """
    from backend.services import importing

    with (
        rooms.open_rooms() as at,
        terminal.progress(f"Importing into {project}", quiet=as_json) as told,
    ):
        into = importing.Into(at.database, at.files, project, rooms.me(), progress=told)
        result = importing.run(into, Path(source), at.settings, format_).as_json()
    if as_json:
        terminal.document(result)
    else:
        terminal.say(
            f"{project}: {result['images']:,} images, {result['goldens']:,} goldens and "
            f"{result['boxes']:,} boxes added; {result['skipped']:,} were there already."
        )
    _complain(result["problems"], "could not be used", as_json)


def export(
    project: Annotated[str, typer.Argument(help="Name of the project.")],
    out: Annotated[Path, typer.Argument(help="A new folder, or a new .zip.")],
    format_: Annotated[str, typer.Option("--format", help="deeppcb, voc, yolo, coco or folders.")],
    as_json: AsJson = False,
) -> None:
    """Write all pictures and labels of a project in a format that other programs read.

    Example: loupe export boards boards-coco.zip --format coco
    """
    from backend.services import exporting

    with (
        rooms.open_rooms() as at,
        terminal.progress(f"Exporting {project}", quiet=as_json) as told,
        at.database.read.begin() as session,
    ):
        result = exporting.run(session, at.files, project, out, format_, told).as_json()
    if as_json:
        terminal.document(result)
    else:
        terminal.say(
            f"{result['path']}: {result['images']:,} images, {result['goldens']:,} goldens and "
            f"{result['boxes']:,} boxes."
        )
    _complain(result["problems"], f"could not be carried by {format_}", as_json)


def _complain(problems: list[dict[str, Any]], words: str, as_json: bool) -> None:
    if not problems:
        return
    for one in problems[: 0 if as_json else SHOWN]:
        line = f":{one['line']}" if one["line"] else ""
        terminal.warn(f"{one['file']}{line}: {one['reason']}")
    more = len(problems) - SHOWN
    if more > 0 and not as_json:
        terminal.warn(f"… and {more:,} more; --json lists them all.")
    raise Refused(f"{len(problems):,} files or lines {words}; everything else is done.")
