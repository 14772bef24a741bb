"""`loupe …`, the command line: each command asks one service and prints what it says."""

from __future__ import annotations

import logging
import sys
from typing import Annotated, NoReturn

import typer
from sqlalchemy.exc import SQLAlchemyError

from app import terminal
from app.commands import (
    benchmarks,
    doubts,
    labels,
    models,
    publishing,
    review,
    runs,
    searches,
    site,
    thresholds,
    upkeep,
    warehouse,
)
from app.commands.jobs import work
from app.commands.projects import classes, look, people, steering, tokens
from backend import version as code
from backend.errors import LoupeError
from backend.storage import outages

cli = typer.Typer(
    name="loupe",
    help="A workbench for people who find defects in pictures. Alone it serves the site here: "
    "the same as loupe serve, which has the port and the rest.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
ROOMS = (
    site,
    labels,
    look,
    classes,
    models,
    searches,
    steering,
    benchmarks,
    runs,
    work,
    review,
    doubts,
    thresholds,
    publishing,
    warehouse,
    people,
    tokens,
    upkeep,
)
for room in ROOMS:
    room.add_to(cli)


@cli.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Say which Loupe this is.", is_eager=True)
    ] = False,
) -> None:
    """A workbench for people who find defects in pictures. Alone: serve the site here.

    Example: loupe
    """
    if version:
        terminal.say(f"Loupe {code.code()}")
        raise typer.Exit
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if context.invoked_subcommand is None:
        site.serve()


def main() -> None:
    """Run a command; what goes wrong is one sentence and exit code 1."""
    try:
        cli()
    except LoupeError as error:
        _end(str(error))
    except (SQLAlchemyError, OSError) as error:
        told = outages.sentence(error)
        if not told:
            raise
        _end(told)


def _end(told: str) -> NoReturn:
    terminal.err.print(told, markup=False, highlight=False, soft_wrap=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
