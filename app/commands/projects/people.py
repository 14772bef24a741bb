"""Commands for accounts."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend.domain import Role
from backend.projects import logins, members, people

group = typer.Typer(help="Accounts, for `loupe serve --auth`.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of the person.")]
Password = Annotated[
    str,
    typer.Option(
        envvar="LOUPE_USER_PASSWORD", prompt=True, hide_input=True, confirmation_prompt=True,
        help="At least 8 characters; asked for when it is not given.",
    ),
]  # fmt: skip


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    cli.add_typer(group, name="user")


@group.command()
def add(
    name: Name,
    password: Password,
    role: Annotated[Role, typer.Option(help="What the person may do.")] = Role.LABELER,
) -> None:
    """Make an account.

    Example: loupe user add ana --role admin
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        made = people.add(session, name, role, password)
    terminal.say(f"{made.name} may now log in as {made.role.value}.")


@group.command()
def role(name: Name, role: Annotated[Role, typer.Argument(help="The new role.")]) -> None:
    """Change what a person may do.

    Example: loupe user role ana viewer
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        changed = people.set_role(session, name, role)
    terminal.say(f"{changed.name} is now a {changed.role.value}.")


@group.command()
def password(name: Name, password: Password) -> None:
    """Give a person a new password, which ends all their logins.

    Example: loupe user password ana
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        people.set_password(session, name, password)
    terminal.say(f"The password of {name} is changed.")


@group.command()
def remove(name: Name) -> None:
    """Close an account; what the person did stays.

    Example: loupe user remove ana
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        people.remove(session, name)
        members.leave(session, name)
    terminal.say(f"{name} may no longer log in.")


@group.command("logins")
def logged_in(
    name: Name,
    end: Annotated[bool, typer.Option("--end", help="Log the person out everywhere.")] = False,
    as_json: AsJson = False,
) -> None:
    """List where a person is logged in, or end that.

    Example: loupe user logins ana --end
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        people.get(session, name)
        found = logins.of(session, name)
        if end:
            logins.end_all(session, name)
    if as_json:
        terminal.document([dataclasses.asdict(one) for one in found])
    elif end:
        terminal.say(f"{name} is logged out; within two seconds {len(found):,} logins end.")
    else:
        columns = ("began", "seen", "address", "browser")
        rows = [(*_times(one), one.address, one.browser) for one in found]
        terminal.table(columns, rows)


def _times(one: logins.Login) -> tuple[str, str]:
    began, seen = (at.astimezone().strftime("%Y-%m-%d %H:%M") for at in (one.began, one.seen))
    return began, seen


@group.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the accounts.

    Example: loupe user list
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = people.everyone(session)
    if as_json:
        terminal.document([{"name": one.name, "role": one.role.value} for one in found])
    elif not found:
        terminal.say("There is no account yet. Make one: loupe user add NAME --role admin")
    else:
        terminal.table(("name", "role"), [(one.name, one.role.value) for one in found])
