"""A table of Snowflake as the source of an import: pictures in its rows, labels, or both.

Rows are read in the order of their file names, pictures a page at a time: however large the table
is, little of it is in memory. A picture comes once, also where each of its boxes is a row.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import itertools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend import safe_pictures
from backend.errors import Invalid, NotFound
from backend.formats import base
from backend.formats.base import Finding, Found, Item, Labelled, Problem
from backend.incoming import fetched, label_text, layouts, names
from backend.incoming.fetched import Fetched, Listed
from backend.incoming.layouts import CORNERS, ColumnRole, TableLayout
from backend.storage.files import Files
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from backend.words import many

START = "table:"
PAGE = 200  # pictures that are asked for at once
BYTES = 32_000_000  # that they may have together
HASH = "_hash"
LENGTH = "_length"
YES = ("true", "t", "yes", "y", "1")  # where a flag is text
COLUMNS = (
    "SELECT column_name FROM information_schema.columns WHERE table_name = %s "
    "AND table_schema = COALESCE(%s, CURRENT_SCHEMA()) ORDER BY ordinal_position"
)
_NOWHERE = "its picture is neither in the table nor elsewhere; name where: --pictures PLACE."
Row = Mapping[str, Any]
# The hashes in the store of the pictures of these names, as far as they are there.
Elsewhere = Callable[[Sequence[str]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What somebody says of a table: roles of columns, and which rows are meant."""

    columns: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, str] = field(default_factory=dict)


def is_table(said: str) -> bool:
    """Whether somebody means a table."""
    return said.startswith(START)


@dataclass(slots=True)
class Table:
    """One table that is read."""

    connection: SnowflakeConnection
    place: str
    names: tuple[str, ...]
    layout: TableLayout
    only: Mapping[str, str]

    @property
    def shown(self) -> str:
        """As SQL and people write it."""
        return ".".join(map(names.quoted, self.names))

    def count(self) -> int:
        """How many pictures it tells of."""
        sql, values = self._told(f"SELECT COUNT(DISTINCT {self._column(ColumnRole.FILE)})")
        return int(self.connection.ask(sql, values)[0][0])

    def rows(self) -> Iterator[Row]:
        """All rows without their pictures, in the order of their file names."""
        roles = [one for one in self.layout.columns if one is not ColumnRole.IMAGE]
        told = [self._value(one) for one in roles]
        keys = [one.value for one in roles]
        if ColumnRole.IMAGE in self.layout.columns:
            image = self._column(ColumnRole.IMAGE)
            told += [f"TO_VARCHAR(HASH({image}))", f"LENGTH({image})"]
            keys += [HASH, LENGTH]
        sql, values = self._told(f"SELECT {', '.join(told)}")
        first = [ColumnRole.IS_GOLDEN] if ColumnRole.IS_GOLDEN in self.layout.columns else []
        order = [f"{self._value(one)} DESC" for one in first]
        order.append(self._column(ColumnRole.FILE))
        found = self.connection.stream(f"{sql} ORDER BY {', '.join(order)}", values)
        return (dict(zip(keys, row, strict=True)) for row in found)

    def pictures(self, files: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """The pictures of these file names, as they stand in the table."""
        file, image = self._column(ColumnRole.FILE), self._column(ColumnRole.IMAGE)
        marks = ", ".join("%s" for _ in files)
        more = f"{file} IN ({marks}) AND LENGTH({image}) > 0"
        sql, values = self._told(f"SELECT {file}, {image}", more)
        once = f"QUALIFY ROW_NUMBER() OVER (PARTITION BY {file} ORDER BY {file}) = 1"
        for name, value in self.connection.stream(f"{sql} {once}", [*values, *files]):
            yield str(name), value

    def _told(self, select: str, more: str = "") -> tuple[str, list[Any]]:
        """A query over the rows that are meant, and the values that are bound to it."""
        # At least one value, so that the connector reads each statement alike: %% as a %.
        conditions = ["%s", *(f"{in_sql(one)} = %s" for one in self.only)]
        conditions += [more] if more else []
        place = ".".join(map(in_sql, self.names))
        sql = f"{select} FROM {place} WHERE {' AND '.join(conditions)}"
        return sql, [True, *self.only.values()]

    def _value(self, role: ColumnRole) -> str:
        """What rows say; whether a picture is a golden they say together."""
        if role is not ColumnRole.IS_GOLDEN:
            return self._column(role)
        text = f"LOWER(CAST({self._column(role)} AS VARCHAR))"
        yes = text + " IN ('true', 't', 'yes', 'y', '1')"
        file = self._column(ColumnRole.FILE)
        return f"MAX(CASE WHEN {yes} THEN 1 ELSE 0 END) OVER (PARTITION BY {file})"

    def _column(self, role: ColumnRole) -> str:
        return in_sql(self.layout.columns[role])


def columns(connection: SnowflakeConnection, said: str) -> tuple[tuple[str, ...], list[str]]:
    """The names of a table, and those of its columns."""
    parts = names.table(said.removeprefix(START))
    # A database's own information schema tells of its tables.
    home = f"{names.quoted(parts[0]).replace('%', '%%')}." if len(parts) == 3 else ""
    schema = parts[-2] if len(parts) > 1 else None
    query = COLUMNS.replace("information_schema", f"{home}information_schema")
    there = [str(name) for (name,) in connection.ask(query, (parts[-1], schema))]
    if not there:
        raise NotFound(f"Snowflake has no table {said.removeprefix(START)}, or hides it from you.")
    return parts, there


def in_sql(name: str) -> str:
    """A name where the connector binds values, in quotes: one may be a word of SQL."""
    told = names.quoted(name)
    told = told if told.startswith('"') else f'"{told}"'
    return told.replace("%", "%%")


def opened(connection: SnowflakeConnection, place: str, said: str, asked: TableOptions) -> Table:
    """The table of that name, with what its columns mean; `place` names the account."""
    parts, there = columns(connection, said)
    only = {layouts.column(there, name): value for name, value in asked.only.items()}
    return Table(connection, place, parts, layouts.read(there, asked.columns), only)


def found(
    table: Table, elsewhere: Elsewhere, cache: Path, files: Files, waits: Callable[[], None]
) -> Finding:
    """What a table tells, picture by picture; `elsewhere` has those that it only names."""
    told = repr((table.place, table.names))
    home = cache / "tables" / hashlib.sha256(told.encode()).hexdigest()[:16]
    with fetched.opened(home, waits) as ledger:
        reading = _Reading(table, elsewhere, files, ledger)
        groups = itertools.groupby(table.rows(), key=lambda row: row[ColumnRole.FILE])
        with closing(_pages((name, list(rows)) for name, rows in groups)) as pages:
            for page in pages:
                yield from reading.page(page)


Group = tuple[Any, list[Row]]


def _pages(groups: Iterator[Group]) -> Generator[list[Group], None, None]:
    """So many pictures as may be in memory together."""
    page: list[Group] = []
    held = 0
    for name, rows in groups:
        size = max(int(row.get(LENGTH) or 0) for row in rows)
        if page and (len(page) >= PAGE or held + size > BYTES):
            yield page
            page, held = [], 0
        page.append((name, rows))
        held += size
    if page:
        yield page


@dataclass(slots=True)
class _Reading:
    """One table on its way into a project."""

    table: Table
    elsewhere: Elsewhere
    files: Files
    ledger: Fetched

    def page(self, page: Sequence[Group]) -> Iterator[Found]:
        """The items of some pictures; what cannot be used is a problem."""
        usable: list[Group] = []
        for name, rows in page:
            if reason := self._why_not(name, rows):
                yield self._problem(str(name or ""), reason)
            else:
                usable.append((str(name), rows))
        stored, problems = self._stored(usable)
        yield from problems
        for name, rows in usable:
            if name in stored:
                yield from self._item(name, rows, stored[name])

    def _why_not(self, name: Any, rows: Sequence[Row]) -> str:
        if not str(name or "").strip():
            return f"{many(len(rows), 'row')} without a file name."
        if ColumnRole.IMAGE not in self.table.layout.columns:
            return ""
        kinds = {row[HASH] for row in rows if row[LENGTH]}
        if not kinds:
            return "it has no picture."
        return "its rows have several pictures under one name." if len(kinds) > 1 else ""

    def _stored(self, groups: Sequence[Group]) -> tuple[dict[str, str], list[Problem]]:
        """The hash of each picture in the store, brought in where it is missing."""
        wanted = [name for name, _ in groups]
        if ColumnRole.IMAGE not in self.table.layout.columns:
            there = self.elsewhere(wanted)
            lost = [self._problem(one, _NOWHERE) for one in wanted if one not in there]
            return dict(there), lost
        self.ledger.note(_listed(name, rows) for name, rows in groups)
        stays = self.files.renew if self.files.local else self.files.has
        kept = {name: one for name, one in self.ledger.known(wanted).items() if stays(one)}
        missing = [name for name in wanted if name not in kept]
        reasons = dict.fromkeys(missing, "its picture has gone while the table was read.")
        for name, value in self.table.pictures(missing) if missing else ():
            try:
                kept[name] = self.files.put(_bytes(value))
            except Invalid as error:
                reasons[name] = str(error)
        problems = [self._problem(name, reasons[name]) for name in missing if name not in kept]
        self.ledger.keep([(name, kept[name]) for name in missing if name in kept])
        return kept, problems

    def _item(self, name: str, rows: Sequence[Row], sha256: str) -> Iterator[Found]:
        boxes: list[Labelled] = []
        for one in self._labels(rows, sha256):
            if isinstance(one, Problem):
                yield self._problem(name, one.reason, one.line)
            else:
                boxes.append(one)
        first = rows[0]
        layout = self.table.layout
        label = "" if layout.has_boxes else str(first.get(ColumnRole.CLASS) or "")
        yield Item(
            name,
            functools.partial(self.files.read, sha256),
            tuple(boxes),
            labelled=bool(boxes or label) or _says_so(first),
            label=label,
            split=base.split_of(str(first.get(ColumnRole.SPLIT) or "")),
            group=str(first.get(ColumnRole.LOT) or ""),
            golden=str(first.get(ColumnRole.GOLDEN) or ""),
            is_golden=bool(first.get(ColumnRole.IS_GOLDEN)),
            file=f"{self.table.shown}: {name}",
            label_file=f"{self.table.shown}: {name}",
        )

    def _labels(self, rows: Sequence[Row], sha256: str) -> Iterator[Labelled | Problem]:
        layout = self.table.layout
        if layout.has_boxes:
            # Rows that are alike, as of a table that was filled twice, tell of one box.
            seen: dict[Labelled | Problem, None] = dict.fromkeys(filter(None, map(_box, rows)))
            yield from seen
        elif rows[0].get(ColumnRole.TEXT):
            with self.files.open(sha256) as stream:
                try:
                    header = safe_pictures.header(stream, "it")
                except Invalid:
                    return  # told when the picture is looked at
            yield from label_text.read(str(rows[0][ColumnRole.TEXT]), (header.width, header.height))

    def _problem(self, name: str, reason: str, line: int | None = None) -> Problem:
        return Problem(f"{self.table.shown}: {name}", line, reason)


def _says_so(row: Row) -> bool:
    """Whether a row says that its picture was looked at, though there is nothing in it."""
    if ColumnRole.LABELLED in row:
        said = row[ColumnRole.LABELLED]
        return said.strip().lower() in YES if isinstance(said, str) else bool(said)
    return row.get(ColumnRole.TEXT) == ""


def _box(row: Row) -> Labelled | Problem | None:
    corners = [row[one] for one in CORNERS]
    if corners == [None] * len(CORNERS):
        return None
    try:
        x1, y1, x2, y2 = map(float, corners)
    except (TypeError, ValueError):
        told = ", ".join(str(one)[:20] for one in corners)
        return Problem("", None, f"the box ({told}) has a corner that is not a number.")
    return Labelled(x1, y1, x2, y2, str(row.get(ColumnRole.CLASS) or ""))


def _listed(name: str, rows: Sequence[Row]) -> Listed:
    told = next(row for row in rows if row[LENGTH])
    return Listed(name, int(told[LENGTH]), f"{told[LENGTH]} {told[HASH]}")


def _bytes(value: Any) -> bytes:
    """A picture, which is bytes or base64 text."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    text = str(value)
    if text.startswith("data:"):
        text = text.partition(",")[2]
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid("its picture is neither bytes nor base64 text.") from error
