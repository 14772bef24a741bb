"""What the command line prints: tables and progress for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

out = Console()
err = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


class Told(Protocol):
    """Hears how far some work is."""

    def __call__(self, done: int, total: int | None = None) -> None:
        """`done` of `total` things are done."""


def document(value: Any) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def say(sentence: str) -> None:
    """Print a sentence for a person."""
    out.print(sentence, highlight=False, markup=False, soft_wrap=True)


def warn(sentence: str) -> None:
    """Print a sentence on stderr."""
    err.print(sentence, highlight=False, markup=False, soft_wrap=True)


def clear(really: bool) -> None:
    """Empty the screen before it is drawn anew."""
    if really:
        out.clear()


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows for a person; numbers stand at the right."""
    made = Table(box=None, pad_edge=False, header_style="dim")
    for at, column in enumerate(columns):
        number = bool(rows) and all(isinstance(row[at], int | float) for row in rows)
        made.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in rows:
        made.add_row(*(_cell(value) for value in row))
    out.print(made)


@contextmanager
def progress(words: str, total: int | None = None, quiet: bool = False) -> Iterator[Told]:
    """A progress bar on stderr while the block runs."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=quiet) as bar:
        task = bar.add_task(words, total=total)

        def told(done: int, total: int | None = None) -> None:
            if total:
                bar.update(task, total=total)
            # Who does not know yet of how many waits until another one has ended.
            named = f"{words}, waiting for another one" if total == 0 else words
            bar.update(task, completed=done, description=named)

        yield told


class Shared(Protocol):
    """Hears how far a job is."""

    def __call__(self, share: float, message: str) -> None:
        """From 0 to 1, with a sentence."""


@contextmanager
def share(words: str, quiet: bool = False) -> Iterator[Shared]:
    """A progress bar with a sentence, for a job that runs elsewhere."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[message]}", markup=False),
    )
    with Progress(*columns, console=err, transient=True, disable=quiet) as bar:
        task = bar.add_task(words, total=1.0, message="")
        yield lambda share, message: bar.update(task, completed=share, message=message)


def _cell(value: Any) -> str:
    from rich.markup import escape

    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}"
    return escape(str(value or ""))
