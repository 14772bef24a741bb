"""Names on disk: a source may have more files than fit in memory.

A shelf is a table in a temporary SQLite database, of which only a small cache is in memory; its
file has no name, so nothing is left of it when the process ends. What stands on it is in order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

_PAGE = 1000  # rows read at once


def _shelf(table: str) -> sqlite3.Connection:
    """A database of its own; pictures are read by several threads, which take turns."""
    shelf = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    shelf.execute("pragma journal_mode=off")
    shelf.execute("pragma synchronous=off")
    shelf.execute(f"create table kept ({table}) without rowid")
    return shelf


def _text(name: object) -> str:
    """A name that is asked for; one that no file can have is not on any shelf."""
    return str(name).encode("utf-8", "surrogatepass").decode("utf-8", "replace")


class Texts(Mapping[str, str]):
    """A text for each name."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._shelf = _shelf("name text primary key, value text")
        self._shelf.execute("begin")
        self._shelf.executemany("insert or replace into kept values (?, ?)", pairs)
        self._shelf.execute("commit")
        self._count: int | None = None

    def __setitem__(self, name: str, value: str) -> None:
        self._shelf.execute("insert or replace into kept values (?, ?)", (name, value))
        self._count = None

    def __getitem__(self, name: str) -> str:
        found = self._shelf.execute("select value from kept where name = ?", (_text(name),))
        for (value,) in found:
            return str(value)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        found = self._shelf.execute("select 1 from kept where name = ?", (_text(name),))
        return found.fetchone() is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.pairs())

    def __len__(self) -> int:
        if self._count is None:
            self._count = int(self._shelf.execute("select count(*) from kept").fetchone()[0])
        return self._count

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Names and texts."""
        last = ""
        query = "select name, value from kept where name > ? order by name limit ?"
        while rows := self._shelf.execute(query, (last, _PAGE)).fetchall():
            yield from rows
            last = rows[-1][0]


class NameSet(Collection[str]):
    """Names, each of them once."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._texts = Texts((name, "") for name in names)

    def add(self, name: str) -> None:
        """Put one more on the shelf."""
        self._texts[name] = ""

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class Index:
    """The names under each key."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._shelf = _shelf("key text, name text, primary key (key, name)")
        self._shelf.execute("begin")
        self._shelf.executemany("insert or ignore into kept values (?, ?)", pairs)
        self._shelf.execute("commit")

    def __contains__(self, key: str) -> bool:
        found = self._shelf.execute("select 1 from kept where key = ? limit 1", (_text(key),))
        return found.fetchone() is not None

    def get(self, key: str) -> Sequence[str]:
        """The names under a key, in order."""
        query = "select name from kept where key = ? order by name"
        return [name for (name,) in self._shelf.execute(query, (_text(key),))]

    def twice(self) -> Iterator[str]:
        """The keys with more than one name."""
        found = self._shelf.execute("select key from kept group by key having count(*) > 1")
        return (key for (key,) in found)
