"""Commands for tokens, by which programs ask in a person's name."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend.domain import Role
from backend.projects import catalogue, tokens
from backend.projects.tokens import Token

group = typer.Typer(help="Tokens, by which programs ask.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of the token.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.add_typer(group, name="token")


@group.command()
def add(
    name: Name,
    user: Annotated[
        str, typer.Option(help="In whose name it asks; left out: yours, where nobody logs in.")
    ] = "",
    role: Annotated[
        Role | None, typer.Option(help="At most this; default: what that person may do.")
    ] = None,
    projects: Annotated[
        list[str] | None, typer.Option(help="Only this project; may be repeated.")
    ] = None,
    expires: Annotated[int, typer.Option(help="Days until it ends; 0: never.")] = tokens.LASTS,
    as_json: AsJson = False,
) -> None:
    """Make a token, shown once: programs send it as Authorization: Bearer TOKEN.

    Example: loupe token add line-3 --user ana --role labeler --projects boards
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        named = [catalogue.find(session, one).id for one in projects] if projects else None
        made, secret = tokens.add(session, name, user, role, named, expires)
    if as_json:
        terminal.document({"token": secret, **_shown(made, projects)})
    else:
        terminal.say(secret)
        terminal.warn(f"{made.name} is shown this once, and kept nowhere.")


@group.command()
def remove(name: Name) -> None:
    """End a token; what it did stays.

    Example: loupe token remove line-3
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        tokens.end(session, name)
    terminal.say(f"{name} lets nobody in any more, within two seconds.")


@group.command()
def uses(
    name: Annotated[str, typer.Argument(help="Name of the token; default: all.")] = "",
    most: Annotated[int, typer.Option(help="So many, the newest first.", min=1)] = 100,
    as_json: AsJson = False,
) -> None:
    """List what was changed by tokens: when, by which, in whose name.

    Example: loupe token uses line-3
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = tokens.uses(session, name, most)
    if as_json:
        terminal.document([asdict(one) for one in found])
    else:
        columns = ("at", "token", "person", "operation", "of")
        rows = [(_time(one.at), one.token, one.person, one.operation, one.subject) for one in found]
        terminal.table(columns, rows)


@group.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the tokens that have not ended.

    Example: loupe token list
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = tokens.everything(session)
        names = catalogue.names(session, (id_ for one in found for id_ in one.projects or ()))
    named = [(one, _named(one, names)) for one in found]
    if as_json:
        terminal.document([_shown(one, projects) for one, projects in named])
    elif not found:
        terminal.say("There is no token yet. Make one: loupe token add NAME --user ana")
    else:
        columns = ("name", "user", "role", "projects", "expires", "used")
        terminal.table(columns, [_row(one, projects) for one, projects in named])


def _named(one: Token, names: dict[int, str]) -> list[str] | None:
    """What its projects are called; those that are gone are left out."""
    return None if one.projects is None else [names[id_] for id_ in one.projects if id_ in names]


def _shown(one: Token, projects: list[str] | None) -> dict[str, Any]:
    return {
        "name": one.name,
        "user": one.person,
        "role": one.role.value,
        "projects": projects,
        "made": one.made,
        "expires": one.expires,
        "used": one.seen,
    }


def _row(one: Token, projects: list[str] | None) -> tuple[str, ...]:
    where = "all" if projects is None else ", ".join(projects)
    times = _time(one.expires) or "never", _time(one.seen) or "never"
    return one.name, one.person or "(the owner)", one.role.value, where, *times


def _time(at: datetime | None) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M") if at else ""
