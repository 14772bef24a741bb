"""Commands that put pictures into a project, and take labels out."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from app import terminal
from app.commands import rooms
from app.terminal import AsJson
from backend.services import projects


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.command()(sample)


def sample(
    project: Annotated[str, typer.Argument(help="Name of the project; made if it is not there.")],
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
