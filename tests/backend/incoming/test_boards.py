"""A table of boards in Snowflake is joined in: what it says of a board is its pictures' lot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backend.errors import Invalid, NotFound
from backend.incoming import boards
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from tests import warehouses
from tests.warehouses import Place

HOSTILE = "x'); DROP TABLE BOARDS; --%s"
PICTURES = {
    "top/A1.jpg": "", "bottom/A1.jpg": "old", "A2.jpg": "old", f"{HOSTILE}.png": "", "A4.b.png": "",
    "A5.png": "kept", "A6.png": "", "A7.png": "",
}  # fmt: skip
ROWS = [
    ("A1", "L1", "PX", "2026-07-01"), ("A2", "L2", None, "2026-07-02"),
    (HOSTILE, "L'3; --", "PX", "2026-07-02"), ("A4.b", "L1", "PY", "2026-07-03"),
    ("A6", "L1", "PX", "2026-07-01"), ("A6", "L2", "PX", "2026-07-01"),
    ("A7", "l" * 301, "P", None), ("elsewhere", "L9", "PX", "2026-07-01"),
]  # fmt: skip
COLUMNS = '"Board%Id" VARCHAR, LINE VARCHAR, "Product; --" VARCHAR, MADE DATE'


@pytest.fixture
def place(tmp_path: Path, emulator: int) -> Place:
    """A Snowflake with a table of boards."""
    place = warehouses.place("snowflake", tmp_path, port=emulator)
    place.change(f"CREATE TABLE boards ({COLUMNS})")
    with closing(SnowflakeConnection(place.address)) as connection:
        for row in ROWS:
            connection.ask("INSERT INTO boards SELECT %s, %s, %s, %s", row)
    return place


@pytest.fixture
def connection(place: Place) -> Iterator[SnowflakeConnection]:
    with closing(SnowflakeConnection(place.address)) as connection:
        yield connection


def fill(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", classes=["x"])
        new = [NewImage(name, "c" * 64, 9, 9, group=lot) for name, lot in PICTURES.items()]
        golden = NewImage("goldens/A1.jpg", "d" * 64, 9, 9, is_golden=True)
        images.add(session, project.id, [*new, golden], "ana")


def lots(database: Database) -> dict[str, str]:
    with database.read() as session:
        project = catalogue.find(session, "boards")
        ids = images.ids(session, project.id, [*PICTURES, "goldens/A1.jpg"])
        return {name: images.get(session, at).group for name, at in ids.items()}


def join(database: Database, connection: SnowflakeConnection, by: str) -> boards.Joined:
    return boards.join(database, "boards", boards.opened(connection, "boards", by, "board%id"))


def test_values_of_a_column_become_the_lots_of_pictures(
    database: Database, connection: SnowflakeConnection
) -> None:
    fill(database)
    found = join(database, connection, "line")
    assert (found.pictures, found.changed, found.without) == (5, 5, 3)
    told = ["A6: its rows say L1, L2.", "A7: A lot is named by up to 300 printable characters"]
    assert [one.startswith(words) for one, words in zip(found.problems, told, strict=True)]
    wanted = {
        "top/A1.jpg": "L1", "bottom/A1.jpg": "L1", "A2.jpg": "L2", f"{HOSTILE}.png": "L'3; --",
        "A4.b.png": "L1", "goldens/A1.jpg": "",
    }  # fmt: skip
    assert lots(database) == {**PICTURES, **wanted}
    assert join(database, connection, "line").changed == 0
    assert "no one lot for 3 pictures" in [*boards.sentences(found)][1]


def test_several_columns_make_one_lot_and_a_missing_value_is_left_out(
    database: Database, connection: SnowflakeConnection
) -> None:
    fill(database)
    join(database, connection, "LINE, product; --,MADE")
    found = lots(database)
    assert found["top/A1.jpg"] == "L1 · PX · 2026-07-01"
    assert found["A2.jpg"] == "L2 · 2026-07-02"


def test_a_column_may_be_called_as_a_word_of_sql(
    place: Place, database: Database, connection: SnowflakeConnection
) -> None:
    fill(database)
    place.change('CREATE TABLE words ("ORDER" VARCHAR, "GROUP" VARCHAR)')
    connection.ask("INSERT INTO words SELECT %s, %s", ("A1", "L1"))
    there = boards.opened(connection, "words", "group", "order")
    assert boards.join(database, "boards", there).changed == 2


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (("boards", "LINE", ""), r"is none|names a board; say which: --board"),
        (("boards", "lines", "board%id"), "has no column lines; it has"),
        (("boards", " ,", "board%id"), "Say by which columns"),
        (("boards", "LINE", "serial"), "has no column serial"),
        (("missing", "LINE", ""), "Snowflake has no table missing"),
        (("x" * 256, "LINE", ""), "1 to 255 characters"),
    ],
)
def test_what_cannot_be_joined_is_refused_in_a_sentence(
    connection: SnowflakeConnection, words: Sequence[Any], refused: str
) -> None:
    with pytest.raises((Invalid, NotFound), match=refused):
        boards.opened(connection, *words)


def test_a_board_is_called_as_in_the_warehouses_views() -> None:
    names = {"line 3/00041.jpg": "00041", "a.b.jpg": "a.b", "x": "x", ".hidden": ".hidden"}
    assert {name: boards.board(name) for name in names} == names
