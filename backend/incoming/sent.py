"""What Loupe itself has put at a place of a stage; kept on disk, so that it is not sent again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

TABLE = (
    "create table if not exists file "
    "(name text primary key, sha256 text not null, token text not null) without rowid"
)


class Sent:
    """The files that were put at a place, each as the stage has listed it since.

    Of one that was on its way when its process was killed it is not known how it is listed.
    """

    def __init__(self, table: sqlite3.Connection) -> None:
        self._table = table
        self._table.execute(TABLE)

    def begin(self, files: Iterable[tuple[str, str]]) -> None:
        """Note the names of files that are about to be put, each with the hash of its bytes."""
        with self._table:
            self._table.executemany("insert or replace into file values (?, ?, '')", files)

    def arrived(self, tokens: Mapping[str, str]) -> None:
        """Note how the stage lists what was put."""
        rows = [(token, name) for name, token in tokens.items()]
        with self._table:
            self._table.executemany("update file set token = ? where name = ?", rows)

    def has(self, name: str, sha256: str, token: str | None) -> bool:
        """Whether a file that is listed so has these bytes."""
        told = "select 1 from file where name = ? and sha256 = ? and token = ? and token != ''"
        return self._table.execute(told, (name, sha256, token)).fetchone() is not None

    def ours(self, tokens: Mapping[str, str]) -> list[str]:
        """Those of these that we have put, and nobody has put anew."""
        told = "select 1 from file where name = ? and token in (?, '')"
        return sorted(
            name
            for name, token in tokens.items()
            if self._table.execute(told, (name, token)).fetchone()
        )

    def forget(self, names: Sequence[str]) -> None:
        """Note that they were taken away."""
        with self._table:
            self._table.executemany("delete from file where name = ?", [(one,) for one in names])


@contextmanager
def opened(home: Path, project_id: int) -> Iterator[Sent]:
    """What a project has put at one place, for who alone is at work there."""
    with closing(sqlite3.connect(home / f"sent-{project_id}.db")) as table:
        yield Sent(table)
