"""`loupe …`, the command line: each command asks one service and prints what it says."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from app import terminal
from app.commands import finding, look, models, people, put, review, serving, work
from backend.errors import LoupeError

cli = typer.Typer(
    name="loupe",
    help="A workbench for people who find defects in pictures. Alone it serves the site here: "
    "the same as loupe serve, which has the port and the rest.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for room in (serving, put, look, models, finding, work, review, people):
    room.add_to(cli)


@cli.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")] = False,
) -> None:
    """A workbench for people who find defects in pictures. Alone: serve the site here.

    Example: loupe
    """
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if context.invoked_subcommand is None:
        serving.serve()


def main() -> None:
    """Run a command; what goes wrong is one sentence and exit code 1."""
    try:
        cli()
    except LoupeError as error:
        terminal.err.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
