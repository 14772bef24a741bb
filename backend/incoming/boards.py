"""A table of boards in Snowflake: what it says of a board becomes the lot of its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import select

from backend.errors import Invalid
from backend.incoming import layouts, tables
from backend.labels import images, imports
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.tables import ImageRow
from backend.storage.writers import retries
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from backend.words import many

BOARD = ("BOARD_ID", "BOARD", "BOARD_NAME", "SERIAL_NUMBER", "SERIAL")
ASKED = 500  # boards of one question
BETWEEN = " · "  # of the values of several columns


@dataclass(slots=True)
class Joined:
    """Pictures that a row was found for, those of them whose lot is new, and those without one."""

    pictures: int = 0
    changed: int = 0
    without: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BoardTable:
    """A table with a row a board; `board` names its boards, `by` what makes a lot."""

    connection: SnowflakeConnection
    names: tuple[str, ...]
    board: str
    by: tuple[str, ...]

    def lots(self, boards: Sequence[str]) -> dict[str, set[str]]:
        """What it says of these boards: of some nothing, of some more than one thing."""
        board = f"CAST({tables.in_sql(self.board)} AS VARCHAR)"
        values = (f"CAST({tables.in_sql(one)} AS VARCHAR)" for one in self.by)
        columns = ", ".join([board, *values])
        place = ".".join(map(tables.in_sql, self.names))
        where = f"{board} IN ({', '.join('%s' for _ in boards)})"
        found: dict[str, set[str]] = {}
        told = self.connection.stream(
            f"SELECT DISTINCT {columns} FROM {place} WHERE {where}", boards
        )
        for name, *said in told:
            found.setdefault(str(name), set()).add(_lot(said))
        return found


def opened(connection: SnowflakeConnection, said: str, by: str, board: str = "") -> BoardTable:
    """The table of that name, with the columns that somebody means."""
    parts, there = tables.columns(connection, said)
    named = layouts.column(there, board) if board else layouts.called(there, BOARD)
    if not named:
        raise Invalid(
            f"None of the columns {', '.join(there)} names a board; say which: --board COLUMN."
        )
    columns = [layouts.column(there, one.strip()) for one in by.split(",") if one.strip()]
    if not columns:
        raise Invalid(f"Say by which columns: --by COLUMN; there are {', '.join(there)}.")
    return BoardTable(connection, parts, named, tuple(columns))


def join(database: Database, project: str, boards: BoardTable) -> Joined:
    """Give each picture the lot that the table tells of its board."""
    known = _pictures(database, project)
    joined, wanted = Joined(), iter(sorted(known))
    while page := list(islice(wanted, ASKED)):
        found = boards.lots(page)
        lots: dict[str, list[int]] = {}
        for board in page:
            if lot := _one(board, found.get(board, set()), joined):
                joined.pictures += len(known[board])
                news = [at for at, old in known[board].items() if old != lot]
                lots.setdefault(lot, []).extend(news)
            else:
                joined.without += len(known[board])
        joined.changed += _keep(database, lots)
    return joined


def board(name: str) -> str:
    """The board that a picture shows, as the warehouse's views call it: its name's own part."""
    file = name.rpartition("/")[2]
    return file.rpartition(".")[0] or file


def _pictures(database: Database, project: str) -> dict[str, dict[int, str]]:
    """The pictures of each board with their lots; a golden belongs to none."""
    with database.read.begin() as session:
        found = catalogue.find(session, project)
        query = select(ImageRow.id, ImageRow.name, ImageRow.group).where(
            ImageRow.project_id == found.id,
            ImageRow.deleted.is_(None),
            ImageRow.is_golden.is_(False),
        )
        known: dict[str, dict[int, str]] = {}
        for id_, name, lot in session.execute(query):
            known.setdefault(board(name), {})[id_] = lot
    return known


def _keep(database: Database, lots: Mapping[str, Sequence[int]]) -> int:
    changed = {lot: ids for lot, ids in lots.items() if ids}
    if changed:
        with retries.patient(database.write.begin)() as session:
            for lot, ids in changed.items():
                images.set_group(session, ids, lot)
    return sum(map(len, changed.values()))


def _one(board: str, said: set[str], joined: Joined) -> str:
    """The lot of a board, if the table tells one."""
    told = said - {""}
    if len(told) > 1:
        joined.problems.append(f"{board}: its rows say {', '.join(sorted(told)[:3])}.")
        return ""
    lot = next(iter(told), "")
    try:
        imports.check_group(lot)
    except Invalid as error:
        joined.problems.append(f"{board}: {error}")
        return ""
    return lot


def _lot(said: Sequence[Any]) -> str:
    return BETWEEN.join(str(one).strip() for one in said if one is not None and str(one).strip())


def sentences(found: Joined) -> Iterator[str]:
    """What came of it, for people."""
    pictures = many(found.pictures, "picture is", "pictures are")
    yield f"{pictures} of boards that the table tells a lot of; of {found.changed:,} it is new."
    if found.without:
        yield f"It tells no one lot for {many(found.without, 'picture')}: nothing changes there."
