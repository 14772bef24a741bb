"""Puts the pictures of a project onto a stage as files, their labels, goldens and lots beside them.

They are laid out in a folder first, as an export: what PUT takes has its own name on disk.
"""

from __future__ import annotations

import glob
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from backend.domain import Task
from backend.errors import Refused, Unavailable
from backend.incoming import fetched, names, stages
from backend.incoming.names import Stage
from backend.labels import exports
from backend.labels.exports import Exported
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.warehouse.address import Address
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from backend.words import many

# What carries all that there is; goldens and lots travel beside every format.
FORMATS = {Task.DETECT: "coco", Task.CLASSIFY: "folders"}
PUT = "PUT %s %s AUTO_COMPRESS = FALSE OVERWRITE = TRUE PARALLEL = 10"
AT_ONCE = 1000  # files of one PUT
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Where pictures go, from which database and store; `told` hears how many are written."""

    database: Database
    files: Files
    cache: Path
    known: Address
    told: Told = lambda _done, _all: None


def put(outgoing: Outgoing, project: str, said: str) -> Exported:
    """Put what is done there; what the place has of somebody else's is left as it is."""
    place = names.stage(said)
    digest = hashlib.sha256(repr((outgoing.known.digest, place)).encode()).hexdigest()[:16]
    home = outgoing.cache / "outgoing" / digest
    with (
        closing(SnowflakeConnection(outgoing.known)) as connection,
        fetched.alone(home, lambda: outgoing.told(0, 0)),
    ):
        _clear_left(home)
        folder = home / "set"
        before = {one.name for one in stages.listed(connection, place)}
        try:
            with outgoing.database.read.begin() as session:
                form = FORMATS[catalogue.find(session, project).task]
                made = exports.run(session, outgoing.files, project, folder, form, outgoing.told)
            _refuse_strange(place, before - set(_names(place, folder)))
            for one in _folders(folder):
                _put(connection, place, folder, one)
            _check(connection, place, folder)
        finally:
            _clear(home)
    return replace(made, path=Path(str(place)))


def put_file(known: Address, path: Path, said: str) -> None:
    """Put one file of ours there, under its own name."""
    place = names.stage(said)
    with closing(SnowflakeConnection(known)) as connection:
        connection.ask(PUT, (f"file://{glob.escape(str(path))}", str(place)))


def _clear_left(home: Path) -> None:
    """Take away what those have left that were killed, for this place and for others."""
    _clear(home)
    for one in home.parent.iterdir():
        if one != home and one.is_dir():
            with fetched.if_free(one) as is_free:
                if is_free:
                    _clear(one)


def _clear(home: Path) -> None:
    for one in home.iterdir():
        if one.is_dir():
            shutil.rmtree(one, ignore_errors=True)


def _folders(folder: Path) -> list[Path]:
    """The folders that have files, that of the labels last: who looks before sees none of them."""
    found = {one.parent for one in _files(folder)}
    return sorted(found, key=lambda one: (-len(one.parts), one))


def _put(connection: SnowflakeConnection, place: Stage, folder: Path, one: Path) -> None:
    """The files of a folder, some at a time, from one where they are alone."""
    inside = one.relative_to(folder).as_posix()
    there = str(place) if inside == "." else f"{place}/{inside}"
    files = iter(sorted(path for path in one.iterdir() if path.is_file()))
    while part := list(islice(files, AT_ONCE)):
        with TemporaryDirectory(dir=folder.parent) as flat:
            for path in part:
                Path(flat, path.name).hardlink_to(path)
            # A pattern does not find what begins with a dot, unless it does so itself.
            for start in sorted({"." if path.name.startswith(".") else "" for path in part}):
                connection.ask(PUT, (f"file://{glob.escape(flat)}/{start}*", there))


def _refuse_strange(place: Stage, strange: set[str]) -> None:
    if strange:
        raise Refused(
            f"{place} has {many(len(strange), 'file')} that this project would not put there, such "
            f"as {min(strange)[:80]}: name a place of its own."
        )


def _check(connection: SnowflakeConnection, place: Stage, folder: Path) -> None:
    there = {one.name: one for one in stages.listed(connection, place)}
    for name, path in zip(_names(place, folder), _files(folder), strict=True):
        if name not in there or not stages.is_whole(path, there[name]):
            raise Unavailable(f"{place.whole.at(name)} did not arrive whole; publish once more.")


def _names(place: Stage, folder: Path) -> Iterator[str]:
    start = f"{place.path}/" if place.path else ""
    return (f"{start}{one.relative_to(folder).as_posix()}" for one in _files(folder))


def _files(folder: Path) -> list[Path]:
    return sorted(one for one in folder.rglob("*") if one.is_file())
