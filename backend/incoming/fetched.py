"""What of a stage lies in the store already; kept on disk, so that nothing is fetched twice."""

from __future__ import annotations

import fcntl
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LOOK = 0.5  # seconds between two looks whether another process has done
TABLE = (
    "create table if not exists file (name text primary key, folder text not null, "
    "size integer not null, token text not null, wanted integer not null, "
    "listing integer not null, "
    "sha256 text not null default '', box text not null default '', "
    "box_token text not null default '') without rowid"
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of a stage; `token` differs once its content does, `wanted` if it is to be fetched."""

    name: str
    size: int
    token: str
    wanted: bool = True

    @property
    def folder(self) -> str:
        """The folder that it lies in."""
        return self.name.rpartition("/")[0]

    @property
    def base(self) -> str:
        """Its name in that folder."""
        return self.name.rpartition("/")[2]


class Fetched:
    """The files of one stage. A box is a folder of ours into which files are fetched."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._table = sqlite3.connect(home / "files.db", isolation_level=None)
        self._table.execute("pragma journal_mode=wal")
        self._table.execute("pragma synchronous=normal")
        self._table.execute(TABLE)
        found = self._table.execute("select coalesce(max(listing), 0) from file")
        self._listing = int(found.fetchone()[0]) + 1

    def note(self, files: Iterable[Listed]) -> int:
        """Note what is there now; says how many of it are wanted."""
        rows = (
            (one.name, one.folder, one.size, one.token, one.wanted, self._listing) for one in files
        )
        with self._transaction():
            self._table.executemany(
                "insert into file (name, folder, size, token, wanted, listing) "
                "values (?, ?, ?, ?, ?, ?) on conflict (name) do update set "
                "listing = excluded.listing, size = excluded.size, token = excluded.token, "
                "wanted = excluded.wanted, "
                "sha256 = case when token = excluded.token then sha256 else '' end",
                rows,
            )
        told = "select count(*) from file where listing = ? and wanted"
        return int(self._table.execute(told, (self._listing,)).fetchone()[0])

    def missing(self) -> Iterator[list[Listed]]:
        """The files that are there and were not fetched, a folder at a time."""
        here = "wanted and listing = ? and sha256 = ''"
        asked = f"select distinct folder from file where {here} order by folder"
        for (folder,) in self._table.execute(asked, (self._listing,)).fetchall():
            told = f"select name, size, token from file where folder = ? and {here} order by name"
            yield [Listed(*row) for row in self._table.execute(told, (folder, self._listing))]

    def held(self) -> Iterator[tuple[str, str]]:
        """The names that are there and were fetched, each with the hash of its bytes."""
        told = (
            "select name, sha256 from file where wanted and listing = ? and sha256 != '' "
            "order by name"
        )
        yield from self._table.execute(told, (self._listing,))

    def is_alone(self, folder: str, count: int) -> bool:
        """Whether these are all files that the stage has below a folder, at any depth."""
        start = f"{folder}/" if folder else ""
        return self._count(start) == count

    def bases_below(self, folder: str) -> set[str]:
        """The names of files in folders below this one, without those folders."""
        start = f"{folder}/" if folder else ""
        told = self._table.execute(
            "select name from file where listing = ? and substr(name, 1, ?) = ? and folder != ?",
            (self._listing, len(start), start, folder),
        )
        return {name.rpartition("/")[2] for (name,) in told}

    def asked(self, box: str, files: Sequence[Listed]) -> None:
        """Note that these are about to be fetched into a box."""
        with self._transaction():
            self._table.executemany(
                "update file set box = ?, box_token = token where name = ?",
                [(box, one.name) for one in files],
            )

    def left(self) -> Iterator[tuple[Listed, Path]]:
        """What a killed process had fetched whole before it could say so."""
        told = (
            "select name, size, token, box from file where listing = ? and sha256 = '' "
            "and box != '' and box_token = token order by name"
        )
        for name, size, token, box in self._table.execute(told, (self._listing,)).fetchall():
            one = Listed(name, size, token)
            path = self.home / box / one.base
            if path.is_file():
                yield one, path

    def known(self, names: Sequence[str]) -> dict[str, str]:
        """Those of these names that were fetched, each with the hash of its bytes."""
        told = "select sha256 from file where name = ? and sha256 != ''"
        found = ((name, self._table.execute(told, (name,)).fetchone()) for name in names)
        return {name: row[0] for name, row in found if row}

    def keep(self, hashes: Sequence[tuple[str, str]]) -> None:
        """Note that the store has the bytes of these names."""
        with self._transaction():
            self._table.executemany(
                "update file set sha256 = ?, box = '' where name = ?",
                [(sha256, name) for name, sha256 in hashes],
            )

    def lose(self, names: Iterable[str]) -> None:
        """Note that the store has lost the bytes of these names."""
        self.keep([(name, "") for name in names])

    def close(self) -> None:
        """Let go of the file."""
        self._table.close()

    def _count(self, start: str) -> int:
        told = "select count(*) from file where listing = ? and substr(name, 1, ?) = ?"
        return int(self._table.execute(told, (self._listing, len(start), start)).fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._table.execute("begin")
        try:
            yield
        except BaseException:
            self._table.execute("rollback")
            raise
        self._table.execute("commit")


@contextmanager
def alone(home: Path, waits: Callable[[], None]) -> Iterator[None]:
    """A folder for one process at a time; another one waits, and says so."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("wb") as lock:
        while not _locked(lock):
            waits()
            time.sleep(LOOK)
        yield


@contextmanager
def if_free(home: Path) -> Iterator[bool]:
    """Whether nobody is at work in such a folder; if so, nobody begins meanwhile."""
    with (home / "lock").open("wb") as lock:
        yield _locked(lock)


@contextmanager
def opened(home: Path, waits: Callable[[], None]) -> Iterator[Fetched]:
    """The files of a stage, for one process at a time."""
    with alone(home, waits):
        found = Fetched(home)
        try:
            yield found
        finally:
            found.close()


def _locked(lock: BinaryIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
