"""A whole home as one file: its database and the files that the rows name, each with its hash.

The file is a tar: `database.db` (always SQLite, so that a home can move between databases),
`files/<hash>`, and last `backup.json`, which says what is in it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import delete

from backend.errors import Invalid, NotFound, Refused, Unavailable
from backend.projects import tokens
from backend.storage import copying, engine, schema, table_version, tables
from backend.storage.engine import Database
from backend.storage.files import BLOCK, Files
from backend.storage.types import now
from backend.upkeep import references

FORMAT = 1
DATABASE, CONTENTS = "database.db", "backup.json"
FILE = re.compile(r"files/([0-9a-f]{64})")
LARGEST_CONTENTS = 100_000_000
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BackupContents:
    """What a backup holds; `missing` files were not in the store, `damaged` ones were changed."""

    at: str
    tables: str
    files: int
    bytes: int
    missing: list[str]
    damaged: list[str]
    format: int = FORMAT


def write(
    database: Database, files: Files, target: Path, told: Told = lambda *_: None
) -> BackupContents:
    """Copy a home, also of a running site, into a file that is there whole or not at all."""
    if target.exists():
        raise Refused(f"{target} is there already; name a new file.")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".loupe-backup-") as beside:
            report = _pack(database, files, part, Path(beside), told)
        for name, stream in _members(part):
            _check(name, stream, report)
        part.replace(target)
    except OSError as error:
        raise Unavailable(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)
    return report


def read(
    source: Path, database: Database, files: Files, told: Told = lambda *_: None
) -> BackupContents:
    """Bring a backup into a home that is still empty: first all files, then all rows at once."""
    _refuse_full(database)
    report = contents(source)
    with tempfile.TemporaryDirectory(prefix="loupe-restore-") as beside:
        copy = Path(beside) / DATABASE
        done = 0
        for name, stream in _members(source):
            if name == DATABASE:
                with copy.open("wb") as out:
                    _pour(stream, out)
            elif found := FILE.fullmatch(name):
                if found[1] not in report.damaged:
                    files.put_checked(found[1], stream)
                told(done := done + 1, report.files)
        _bring_in(copy, database)
    return report


def contents(source: Path) -> BackupContents:
    """What a backup says of itself."""
    for name, stream in _members(source):
        if name == CONTENTS:
            said = json.loads(stream.read(LARGEST_CONTENTS))
            if said.get("format") == FORMAT:
                return BackupContents(**said)
            raise Refused(f"{source} was written by a newer Loupe; install that version.")
    raise Invalid(f"{source} is no whole backup of Loupe: its list of contents is missing.")


def _pack(database: Database, files: Files, part: Path, beside: Path, told: Told) -> BackupContents:
    from backend.storage import upgrading  # which few commands need

    copy = beside / DATABASE
    upgrading.copy(database.engine, copy)
    opened = engine.open_url(f"sqlite:///{copy}")
    with closing(opened), opened.read.begin() as session:
        tables = table_version.revision(session.connection()) or ""
        needed, wanted = references.needed(session), sorted(references.named(session))
    missing: list[str] = []
    damaged: list[str] = []
    size = there = 0
    with part.open("wb") as out, tarfile.open(fileobj=out, mode="w") as tar:
        tar.add(copy, DATABASE)
        for done, name in enumerate(wanted, 1):
            told(done, len(wanted))
            try:
                size += _add(tar, files, name, damaged)
                there += 1
            except NotFound:
                missing += [name] if name in needed else []
        report = BackupContents(now().isoformat(), tables, there, size, missing, damaged)
        _add_bytes(tar, CONTENTS, json.dumps(asdict(report)).encode())
        tar.close()
        out.flush()
        os.fsync(out.fileno())
    return report


def _add(tar: tarfile.TarFile, files: Files, name: str, damaged: list[str]) -> int:
    member = tarfile.TarInfo(f"files/{name}")
    member.size = files.size(name)
    with files.open(name) as stream:
        hashing = _Hashing(stream)
        tar.addfile(member, hashing)
    if hashing.digest() != name:
        damaged.append(name)
    return member.size


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


class _Hashing(io.RawIOBase):
    """A stream that knows the hash of what was read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream, self._hash = stream, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self._hash.update(content)
        return content

    def digest(self) -> str:
        """The hash of what was read so far."""
        return self._hash.hexdigest()


def _members(source: Path) -> Iterator[tuple[str, Any]]:
    """The parts of a backup, one after the other; anything else in it is refused."""
    try:
        with tarfile.open(source, "r:") as tar:
            for member in tar:
                known = member.name in (DATABASE, CONTENTS) or FILE.fullmatch(member.name)
                stream = tar.extractfile(member) if known and member.isreg() else None
                if stream is None:
                    raise Invalid(f"{source} is no backup of Loupe: it has {member.name[:80]!r}.")
                yield member.name, stream
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {source}.") from error
    except (tarfile.TarError, EOFError) as error:
        raise Invalid(f"{source} is no whole backup of Loupe: {error}.") from error


def _check(name: str, stream: BinaryIO, report: BackupContents) -> None:
    found = FILE.fullmatch(name)
    digest = hashlib.sha256()
    while block := stream.read(BLOCK):
        digest.update(block)
    if found and found[1] not in report.damaged and digest.hexdigest() != found[1]:
        raise Unavailable(f"The backup was not written as it should be: {name} differs on disk.")


def _pour(stream: BinaryIO, out: BinaryIO) -> None:
    while block := stream.read(BLOCK):
        out.write(block)


def _refuse_full(database: Database) -> None:
    with database.read.begin() as session:
        if references.is_used(session):
            raise Refused(
                "There is something in this home already, and a backup takes nothing away. "
                "Restore it into an empty one: name another folder with LOUPE_HOME."
            )


def _bring_in(copy: Path, database: Database) -> None:
    """All rows, after the copy has been given the tables of this version.

    Nobody is logged in afterwards, and no token goes on: each may have been ended since the copy
    was taken.
    """
    opened = engine.open_url(f"sqlite:///{copy}")
    with closing(opened):
        schema.prepare(opened)
        with opened.write.begin() as session:
            session.execute(delete(tables.LoginRow))
            tokens.end_all(session)
    if database.engine.dialect.name == "sqlite":
        with (
            closing(sqlite3.connect(copy)) as source,
            closing(sqlite3.connect(str(database.engine.url.database))) as target,
        ):
            source.backup(target)
        return
    with _reading(copy) as rows, database.engine.begin() as into:
        copying.emptied(into)
        copying.rows(rows, into)


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    made = engine.make_engine(f"sqlite:///{path}")
    with made.connect() as connection:
        yield connection
    made.dispose()
