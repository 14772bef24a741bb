"""What a command works with: the settings, the database, the files."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from backend import settings
from backend.incoming import stages
from backend.previews import previews
from backend.previews.previews import Previews
from backend.settings import Settings
from backend.storage import engine, files, schema
from backend.storage.engine import Database
from backend.storage.files import Files


@dataclass(frozen=True, slots=True)
class Tools:
    """The connections of one command."""

    settings: Settings
    database: Database
    files: Files


@contextmanager
def open_tools() -> Iterator[Tools]:
    """Connect to all that the settings name, and let go of it at the end."""
    chosen = settings.current()
    settings.make_home(chosen)
    database = engine.connect(chosen)
    try:
        schema.prepare(database, copies=chosen.home)
        yield Tools(chosen, database, files.connect(chosen))
    finally:
        database.close()


@contextmanager
def pictures(at: Tools) -> Iterator[Previews]:
    """Smaller pictures, as the site keeps them; made by processes that end with this."""
    made = previews.of(at.settings, at.files)
    try:
        yield made
    finally:
        made.close()


def prepare() -> None:
    """Make the home folder and the tables, for a process that only starts others."""
    with open_tools():
        pass


def place(source: str) -> str:
    """Where pictures are, as another process understands it."""
    if stages.is_stage(source):
        return stages.check(source, settings.current())
    return source if "://" in source else str(Path(source).expanduser().resolve())


def me() -> str:
    """The name that stands at what this command does."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"
