"""What the loader asks of a warehouse, whichever it is."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from backend.warehouse import views
from backend.warehouse.queries import Answer
from backend.warehouse.reading import Rows
from backend.warehouse.shapes import RowKind, Type
from backend.warehouse.tables import KINDS

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Range:
    """Rows of a kind: those whose numbers in these columns lie between a first and a last."""

    bounds: tuple[tuple[str, int, int], ...]


class Warehouse(Protocol):
    """An open warehouse. What is staged stands there once it is merged and committed."""

    statements: int

    def lay(self) -> None:
        """Make the tables and views, and add the columns that are missing."""

    def tables(self) -> set[str]:
        """The names of the tables that are there, also after a statement that was refused."""

    def newest(self) -> int:
        """The highest version of any row."""

    def heads(self, kind: RowKind) -> list[tuple[int, int]]:
        """The parts of a kind that have rows."""

    def pictures(self) -> Iterator[tuple[Any, ...]]:
        """The image and the hash of each picture that has its bytes there, by its image."""

    def stage(self, kind: RowKind, version: int) -> None:
        """Begin with the rows of a kind."""

    def add(self, kind: RowKind, rows: Rows) -> None:
        """More rows of the kind that is staged."""

    def staged(self, kind: RowKind, version: int) -> None:
        """All rows of the kind were added."""

    def merge(self, kind: RowKind, version: int, gone: Sequence[Range]) -> None:
        """Let the newest version of each row stand; of these ranges what was not staged is gone."""

    def count(self, kind: RowKind, version: int, among: Sequence[Range]) -> int:
        """How many rows of these ranges have that version and stand."""

    def commit(self) -> None:
        """Let others see what was merged."""

    def sweep(self, version: int, kinds: Sequence[str]) -> None:
        """Take away what was staged."""

    def ask(self, sql: str, values: Mapping[str, Any]) -> Answer:
        """The answer to a query with :names for its values."""

    def check(self) -> dict[str, Any]:
        """Who asks, where, and what is missing."""

    def close(self) -> None:
        """Let go of the connection."""


def select_now(kind: RowKind) -> str:
    """The view of what stands of a kind; a class that was merged is the one that took it."""
    named = {column.name: f"t.{column.name}" for column in kind.columns}
    source, where = f"{kind.table} t", "NOT t.deleted"
    if kind.name in ("label", "detection"):
        named["class_id"] = "COALESCE(c.merged_into_id, t.class_id) AS class_id"
        source += " LEFT JOIN loupe_class c ON c.id = t.class_id"
    if kind.name == "label":
        source += " JOIN loupe_image i ON i.id = t.image_id AND i.revision = t.revision"
        where += " AND NOT i.deleted"
    return f"SELECT {', '.join(named.values())} FROM {source} WHERE {where}"


def shown(dialect: str, taken: Collection[str]) -> dict[str, str]:
    """Every view by its name, each after those that it asks; none whose name is taken."""
    wanted = {kind.view: select_now(kind) for kind in KINDS.values()} | dict(views.of(dialect))
    there = {name.lower() for name in taken}
    for name in sorted(there & set(wanted)):
        log.warning(
            "The warehouse has a %s of somebody else's: our view of that name is left out.", name
        )
    return {name: select for name, select in wanted.items() if name not in there}


def newest() -> str:
    """The query for the highest version of any row."""
    each = (f"SELECT max(version) AS version FROM {kind.table}" for kind in KINDS.values())
    return f"SELECT max(version) FROM ({' UNION ALL '.join(each)}) every"


def pictures() -> str:
    """The query for the pictures that have their bytes there."""
    return (
        f"SELECT image_id, sha256 FROM {KINDS['picture'].table} "
        "WHERE NOT deleted AND data IS NOT NULL ORDER BY image_id"
    )


def upsert(kind: RowKind, values: str) -> str:
    """The rows of `values` into a table with a key; of each the newest version stands."""
    others = [name for name in kind.names if name not in kind.key]
    news = ", ".join(f"{name} = excluded.{name}" for name in others)
    return (
        f"INSERT INTO {kind.table} ({', '.join(kind.names)}) {values} "
        f"ON CONFLICT ({', '.join(kind.key)}) DO UPDATE SET {news} "
        f"WHERE excluded.version > {kind.table}.version"
    )


def gone(kind: RowKind) -> str:
    """What is set in a row that is deleted."""
    return ", ".join(["deleted = TRUE", *(f"{name} = NULL" for name in kind.heavy)])


def create(kind: RowKind, types: dict[Type, str], *, key: bool) -> str:
    """The table of a kind."""
    columns = [f"{one.name} {types[one.type]}" for one in kind.all_columns]
    if key:
        columns.append(f"PRIMARY KEY ({', '.join(kind.key)})")
    return f"CREATE TABLE IF NOT EXISTS {kind.table} ({', '.join(columns)})"


def condition(ranges: Sequence[Range], mark: str, alias: str = "") -> tuple[str, list[int]]:
    """The condition that a row lies in one of these ranges, with its values apart."""
    dot = f"{alias}." if alias else ""
    told, values = [], []
    for one in ranges:
        told.append(
            "("
            + " AND ".join(f"{dot}{name} BETWEEN {mark} AND {mark}" for name, _, _ in one.bounds)
            + ")"
        )
        values += [number for _, first, last in one.bounds for number in (first, last)]
    return " OR ".join(told), values


def standing(
    kind: RowKind, version: int, among: Sequence[Range], mark: str
) -> tuple[str, list[Any]]:
    """The count of the rows of some ranges that have a version and stand, with its values."""
    where, values = condition(among, mark)
    told = f"SELECT count(*) FROM {kind.table} WHERE version = {mark} AND NOT deleted AND ({where})"
    return told, [version, *values]


def parts(kind: RowKind, floor: str) -> str:
    """The query for the parts of a kind that have rows."""
    spans = [kind.head] + ([kind.tail] if kind.tail else [])
    told = [
        one.column if one.size == 1 else floor.format(column=one.column, size=one.size)
        for one in spans
    ]
    return f"SELECT DISTINCT {', '.join(told if kind.tail else [*told, '0'])} FROM {kind.table}"
