"""Puts the pictures of a project onto a stage as files, their labels, goldens and lots beside them.

They are laid out in a folder first, as an export: what PUT takes has its own name on disk. What is
there already is not sent again, and what was put there before and has gone since is taken away.
"""

from __future__ import annotations

import glob
import hashlib
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backend.domain import Task
from backend.errors import Refused, Unavailable
from backend.incoming import fetched, names, sent, stages
from backend.incoming.names import Stage
from backend.incoming.sent import Sent
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
REMOVE = "REMOVE %s PATTERN = %s"
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


@dataclass(frozen=True, slots=True)
class Put:
    """What a stage has of a project now, and how many files were sent and taken away for that."""

    exported: Exported
    sent: int
    gone: int

    def as_json(self) -> dict[str, Any]:
        """The result as programs read it."""
        return {**self.exported.as_json(), "sent": self.sent, "gone": self.gone}


def put(outgoing: Outgoing, project: str, said: str) -> Put:
    """Put what is done there; what the place has of somebody else's is left as it is.

    Another project is somebody else, also where we have put it there.
    """
    with outgoing.database.read.begin() as session:
        project_id = catalogue.find(session, project).id
    with closing(SnowflakeConnection(outgoing.known)) as connection:
        place = stages.in_full(connection, names.stage(said))
        told = repr((outgoing.known.digest, place))
        home = outgoing.cache / "outgoing" / hashlib.sha256(told.encode()).hexdigest()[:16]
        waits = fetched.alone(home, lambda: outgoing.told(0, 0))
        with waits, sent.opened(home, project_id) as known:
            _clear_left(home)
            folder = home / "set"
            before = {one.name: one.token for one in stages.listed(connection, place)}
            try:
                made = _laid_out(outgoing, project, folder)
                putting = _Putting(connection, place, folder, known, before, bool(made.problems))
                putting.run()
            finally:
                _clear(home)
    made = replace(made, path=Path(str(place)))
    return Put(made, putting.sent, len(putting.gone))


def _laid_out(outgoing: Outgoing, project: str, folder: Path) -> Exported:
    with outgoing.database.read.begin() as session:
        form = FORMATS[catalogue.find(session, project).task]
        return exports.run(session, outgoing.files, project, folder, form, outgoing.told)


@dataclass(slots=True)
class _Putting:
    """A folder on its way to a place, with what was there `before`.

    Where it `lacks` what could not be written, nothing is taken away there: it may be the last.
    """

    connection: SnowflakeConnection
    place: Stage
    folder: Path
    known: Sent
    before: Mapping[str, str]
    lacks: bool
    files: dict[str, Path] = field(default_factory=dict)
    gone: Sequence[str] = ()
    sent: int = 0

    def run(self) -> None:
        """Send what is missing, the labels last, and take away what nobody names any more."""
        self.files = dict(self._named())
        self.gone = self._gone()
        folders: dict[Path, list[tuple[str, Path]]] = {}
        for name, path in self.files.items():
            folders.setdefault(path.parent, []).append((name, path))
        # That of the labels last: who looks before sees none of them.
        for one in sorted(folders, key=lambda one: (-len(one.parts), one)):
            self._put(one, folders[one])
        for name in self.gone:
            self._remove(name)
        self.known.forget(self.gone)
        self._check()

    def _named(self) -> Iterator[tuple[str, Path]]:
        """Every file by its name on the stage."""
        start = f"{self.place.path}/" if self.place.path else ""
        for one in sorted(self.folder.rglob("*")):
            if one.is_file():
                yield f"{start}{one.relative_to(self.folder).as_posix()}", one

    def _gone(self) -> list[str]:
        """What we have put there and the project has no more; strange files are refused."""
        others = {name: token for name, token in self.before.items() if name not in self.files}
        gone = self.known.ours(others)
        _refuse_strange(self.place, others.keys() - set(gone))
        return [] if self.lacks else gone

    def _put(self, one: Path, files: Sequence[tuple[str, Path]]) -> None:
        """What is missing of a folder, some files at a time, from one where they are alone."""
        inside = one.relative_to(self.folder).as_posix()
        there = str(self.place) if inside == "." else f"{self.place}/{inside}"
        missing = self._missing(files)
        while part := list(islice(missing, AT_ONCE)):
            self.known.begin((name, sha256) for name, sha256, _ in part)
            paths = [path for _, _, path in part]
            with TemporaryDirectory(dir=self.folder.parent) as flat:
                for path in paths:
                    Path(flat, path.name).hardlink_to(path)
                # A pattern does not find what begins with a dot, unless it does so itself.
                for start in sorted({"." if path.name.startswith(".") else "" for path in paths}):
                    self.connection.ask(PUT, (f"file://{glob.escape(flat)}/{start}*", there))
            self.sent += len(part)

    def _missing(self, files: Sequence[tuple[str, Path]]) -> Iterator[tuple[str, str, Path]]:
        for name, path in files:
            sha256 = _hash(path)
            if not self.known.has(name, sha256, self.before.get(name)):
                yield name, sha256, path

    def _remove(self, name: str) -> None:
        """A path alone would take all away that begins as it does."""
        base = re.escape(name.rpartition("/")[2])
        self.connection.ask(REMOVE, (self.place.whole.at(name), f"(.*/)?{base}"))

    def _check(self) -> None:
        there = {one.name: one for one in stages.listed(self.connection, self.place)}
        for name, path in self.files.items():
            if name not in there or not stages.is_whole(path, there[name]):
                raise Unavailable(
                    f"{self.place.whole.at(name)} did not arrive whole; publish once more."
                )
        self.known.arrived({name: there[name].token for name in self.files})


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


def _refuse_strange(place: Stage, strange: Collection[str]) -> None:
    if strange:
        raise Refused(
            f"{place} has {many(len(strange), 'file')} that this project would not put there, such "
            f"as {min(strange)[:80]}: name a place of its own."
        )


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
