"""Commands that steer a project: its champion, its people, its splits, proposals for it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend.errors import Refused
from backend.labels import bulk, gallery
from backend.models import registry
from backend.projects import catalogue, members
from backend.runs import proposals

Project = Annotated[str, typer.Argument(help="Name of the project.")]
Wait = Annotated[bool, typer.Option("--wait", help="Follow the job to its end.")]
States = Annotated[list[str] | None, typer.Option("--state", help="Only images in this state.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.command("members")(members_)
    for command in (promote, propose, split):
        cli.command()(command)


def promote(
    project: Project,
    model: Annotated[str, typer.Argument(help="The model, vN.")],
    as_json: AsJson = False,
) -> None:
    """Make a model the champion of its project.

    Example: loupe promote boards v3
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        found = registry.find(session, catalogue.find(session, project).id, model)
        champion = registry.promote(session, found.id)
    if as_json:
        terminal.document({"project": project, "champion": champion.name})
    else:
        terminal.say(f"{champion.name} is the champion of {project} now.")


def propose(
    project: Project,
    state: States = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Let the golden board propose boxes: of new images, or of those in other states.

    Example: loupe propose boards --wait
    """
    source = {"states": state or ["new"]}
    with tools.open_tools() as at:
        with at.database.write.begin() as session:
            id_ = catalogue.find(session, project).id
            job = proposals.ask(session, id_, source, tools.me())
        if wait:
            job = waiting.to_the_end(at, job, as_json)
    if as_json:
        terminal.document({"job": job.id, "state": job.state.value, **job.result})
    elif wait:
        terminal.say(f"{job.message} They stand in Annotate, to be accepted or rejected.")
    else:
        terminal.say(f"Job {job.id} waits: loupe jobs --watch")


def members_(
    project: Project,
    names: Annotated[list[str] | None, typer.Argument(help="Who may enter from now on.")] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Open it to all who have an account.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show who may enter a project besides admins, or name them.

    Example: loupe members boards ana ben
    """
    if names and everybody:
        raise typer.BadParameter("Name the members, or say --everybody.")
    with tools.open_tools() as at, at.database.write.begin() as session:
        id_ = catalogue.find(session, project).id
        if names or everybody:
            members.choose(session, id_, names or None)
        found = members.chosen(session, id_)
    if as_json:
        terminal.document({"project": project, "members": found})
    else:
        who = "Everybody with an account" if found is None else ", ".join((*found, "admins"))
        terminal.say(f"{who} may enter {project}.")


def split(
    project: Project,
    into: Annotated[
        Literal["train", "val", "test", "none"],
        typer.Argument(help="What the images are for; none: each snapshot chooses."),
    ],
    state: States = None,
    kind: Annotated[list[str] | None, typer.Option("--class", help="Only with this class.")] = None,
    text: Annotated[str, typer.Option(help="Only names that contain this text.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say what images are used for: of the whole project, or those that the options choose.

    Example: loupe split boards test --text lot-7
    """
    named = [("state", state), ("class", kind)]
    pairs = [(name, value) for name, values in named for value in values or ()]
    chosen = gallery.parse([*pairs, ("text", text)])
    wanted = bulk.Change("split", "" if into == "none" else into)
    with tools.open_tools() as at:
        with at.database.read.begin() as session:
            id_ = catalogue.find(session, project).id
            ids = gallery.ids(session, id_, chosen)
        done = bulk.change(at.database.write.begin, id_, wanted, ids, tools.me())
    if as_json:
        terminal.document({"project": project, "split": into, "images": done.changed})
    else:
        terminal.say(f"{done.changed:,} images of {project} are now for {into}.")
    if done.error:
        raise Refused(done.error)
