"""Tables of Snowflake as the source of an import: what is in them, and what cannot be used."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backend.domain import Image
from backend.errors import Invalid, NotFound
from backend.formats.base import Labelled, Problem
from backend.incoming import label_text, layouts, places
from backend.incoming.places import Wanted
from backend.incoming.tables import TableOptions
from backend.labels import images, labelling
from backend.labels.imports import Imported, Into
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import ImageRow
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from tests import warehouses
from tests.backend.incoming import snow
from tests.warehouses import Place

# The emulator itself breaks at a quote in the name of a table.
HOSTILE = 'a"; DROP TABLE x; --é %s ? \\n'
NAMED = '"' + HOSTILE.replace('"', '""') + '"'


@pytest.fixture
def place(tmp_path: Path, emulator: int) -> Place:
    """An empty database in Snowflake."""
    return warehouses.place("snowflake", tmp_path, port=emulator)


class Desk:
    """A project into which tables are imported."""

    def __init__(self, database: Database, files: Files, place: Place, home: Path) -> None:
        self.database, self.place = database, place
        self.settings = Settings(home=home)
        self.into = Into(database, files, "boards", "ana")

    def fill(self, table: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
        self.place.change(f"CREATE TABLE {table} ({columns})")
        table = table.replace("%", "%%")
        connection = SnowflakeConnection(self.place.address)
        marks = ", ".join("%s" for _ in rows[0])
        for row in rows:
            connection.ask(f"INSERT INTO {table} SELECT {marks}", row)
        connection.close()

    def take(self, table: str, **more: Any) -> Imported:
        wanted = Wanted(table=TableOptions(more.pop("columns", {}), more.pop("only", {})), **more)
        address, said = self.place.address, f"table:{table}"
        return places.from_table(self.into, said, address, self.settings, wanted)

    def images(self) -> dict[str, tuple[Image, list[tuple[Any, ...]]]]:
        with self.database.read() as session:
            project = catalogue.find(session, "boards")
            told = select(ImageRow).where(ImageRow.project_id == project.id)
            found = images.of_rows(session, session.scalars(told))
            boxes = labelling.boxes_of(session, [one.id for one in found])
        return {
            one.name: (one, [(b.label, b.x1, b.y1, b.x2, b.y2) for b in boxes[one.id]])
            for one in found
        }


@pytest.fixture
def desk(sqlite: Database, files: Files, place: Place, tmp_path: Path) -> Desk:
    """An empty project beside an empty Snowflake."""
    return Desk(sqlite, files, place, tmp_path / "home")


def encoded(folder: Path, count: int) -> dict[str, str]:
    drawn = snow.draw(folder, 1, count)
    return {name: base64.b64encode(data).decode() for name, data in drawn.items()}


def test_a_row_a_box_with_base64_pictures_comes_whole_with_its_reasons(
    desk: Desk, tmp_path: Path
) -> None:
    (a, one), (b, two), (c, three) = encoded(tmp_path, 3).items()
    desk.fill(
        "TRAIN_IMAGES_LABELS",
        "FILENAME VARCHAR, IMAGE_DATA VARCHAR, CLASS VARCHAR, XMIN FLOAT, YMIN FLOAT, "
        "XMAX FLOAT, YMAX FLOAT",
        [
            (a, one, HOSTILE, 1, 2, 8.25, 9),
            *[(a, one, "open", 3, 3, 9, 9)] * 2,
            (b, two, "open", 5, 5, None, 9),
            (b, two, "open", 5, 5, 2, 9),
            (c, three, None, None, None, None, None),
            ("broken.png", "!!!", "open", 1, 1, 2, 2),
            ("none.png", None, "open", 1, 1, 2, 2),
            ("twice.png", one, "open", 1, 1, 2, 2),
            ("twice.png", two, "open", 1, 1, 2, 2),
            (None, one, "open", 1, 1, 2, 2),
        ],
    )
    done = desk.take("TRAIN_IMAGES_LABELS")
    assert (done.images, done.boxes, done.unusable) == (3, 2, 6)
    found = desk.images()
    assert found[a][1] == [(HOSTILE, 1, 2, 8.25, 9), ("open", 3, 3, 9, 9)]
    assert (found[a][0].state, found[c][0].state) == ("done", "new")
    told = {problem.file: problem.reason for problem in done.problems}
    start = "TRAIN_IMAGES_LABELS: "
    assert "neither bytes nor base64" in told[f"{start}broken.png"]
    assert told[f"{start}none.png"] == "it has no picture."
    assert "several pictures under one name" in told[f"{start}twice.png"]
    assert told[start] == "1 row without a file name."
    again = desk.take("train_images_labels")
    assert (again.images, again.skipped) == (0, 3)


def test_a_row_an_image_with_bytes_a_text_and_a_split_comes_whole(
    desk: Desk, tmp_path: Path
) -> None:
    (a, one), (b, two), (c, three) = snow.draw(tmp_path, 1, 3).items()
    desk.fill(
        "PCB_LABELED_DATA",
        "FILENAME VARCHAR, IMAGE_BYTES BINARY, LABEL_TEXT VARCHAR, SPLIT VARCHAR",
        [
            (a, one, "1 2 8 9 3\n0 .5 .5 .5 .25\nno box", "train"),
            (b, two, "", "test"),
            (c, three, None, None),
        ],
    )
    done = desk.take("PCB_LABELED_DATA")
    assert (done.images, done.boxes, done.unusable) == (3, 2, 1)
    assert done.problems[0].line == 3
    found = desk.images()
    assert found[a][1] == [("mousebite", 1, 2, 8, 9), ("0", 4, 6, 12, 10)]
    assert [found[one][0].split for one in (a, b, c)] == ["train", "test", None]
    assert [found[one][0].state for one in (a, b, c)] == ["done", "done", "new"]


def test_labels_alone_find_their_pictures_in_the_project_and_on_a_stage(
    desk: Desk, tmp_path: Path
) -> None:
    drawn = snow.draw(tmp_path / "drawn", 1, 2)
    a, b = drawn
    desk.fill(
        "LABELS_TRAIN",
        "filename VARCHAR, xmin NUMBER, ymin NUMBER, xmax NUMBER, ymax NUMBER, class VARCHAR",
        [(a, 1, 2, 8, 9, "open"), (b, 1, 2, 8, 9, "open"), ("lost.png", 1, 2, 8, 9, "open")],
    )
    nothing = desk.take("LABELS_TRAIN")
    assert (nothing.images, nothing.unusable) == (0, 3)
    assert "neither in the table nor elsewhere" in nothing.problems[0].reason
    desk.place.put(tmp_path / "drawn", "@pictures")
    done = desk.take("s1.LABELS_TRAIN", pictures="@pictures")
    assert (done.images, done.boxes, done.unusable) == (2, 2, 1)
    assert desk.take("LABELS_TRAIN").skipped == 2
    desk.into = replace(desk.into, lot="B")
    assert desk.take("LABELS_TRAIN").images == 0
    assert desk.take("s1.LABELS_TRAIN", pictures="@pictures").images == 2
    assert desk.take("LABELS_TRAIN").skipped == 2


def test_hostile_names_of_tables_columns_and_files_are_only_names(
    desk: Desk, tmp_path: Path
) -> None:
    [(_, data)] = snow.draw(tmp_path, 1, 1).items()
    columns = f'{NAMED} VARCHAR, "IMAGE DATA" BINARY, KIND VARCHAR'
    name = f"{HOSTILE}.png"
    desk.fill(NAMED, columns, [(name, data, HOSTILE), ("other.png", data, "x")])
    roles = {"file": HOSTILE, "image": "image data"}
    done = desk.take(f"s1.{NAMED}", columns=roles, only={"kind": HOSTILE})
    assert (done.images, done.problems) == (1, ())
    assert list(desk.images()) == [name]


def test_rows_that_do_not_agree_on_a_golden_are_one_picture_still(
    desk: Desk, tmp_path: Path
) -> None:
    (a, one), (b, two) = snow.draw(tmp_path, 1, 2).items()
    desk.fill(
        "MIXED",
        "FILENAME VARCHAR, IMAGE BINARY, IS_GOLDEN VARCHAR, CLASS VARCHAR, X1 FLOAT, Y1 FLOAT, "
        "X2 FLOAT, Y2 FLOAT",
        [
            (a, one, "false", "open", 1, 2, 8, 9),
            (a, one, None, "open", 3, 3, 9, 9),
            (b, two, "true", "open", 1, 2, 8, 9),
            (b, two, None, "open", 3, 3, 9, 9),
        ],
    )
    done = desk.take("MIXED")
    assert (done.images, done.goldens, done.problems) == (1, 1, ())
    found = desk.images()
    assert {name: image.is_golden for name, (image, _) in found.items()} == {a: False, b: True}
    assert len(found[a][1]) == 2


def test_a_flag_may_be_a_word(desk: Desk, tmp_path: Path) -> None:
    (a, one), (b, two) = snow.draw(tmp_path, 1, 2).items()
    rows = [(a, one, "false"), (b, two, "Yes")]
    desk.fill("SEEN", "FILENAME VARCHAR, IMAGE BINARY, LABELLED VARCHAR", rows)
    desk.take("SEEN")
    assert {name: image.state for name, (image, _) in desk.images().items()} == {
        a: "new", b: "done"
    }  # fmt: skip


def test_a_table_that_cannot_be_read_is_told_in_a_sentence(desk: Desk) -> None:
    desk.fill("ODD", "FILENAME VARCHAR, XMIN FLOAT, YMIN FLOAT", [("a", 1, 2)])
    with pytest.raises(NotFound, match="no table missing"):
        desk.take("missing")
    with pytest.raises(Invalid, match="no whole box; say where its corners are: x2=COLUMN"):
        desk.take("odd")
    with pytest.raises(Invalid, match="has no column y; it has FILENAME, XMIN"):
        desk.take("odd", columns={"x2": "y"})
    with pytest.raises(Invalid, match="1 to 255 characters"):
        desk.take("x" * 256)


@pytest.mark.parametrize(
    ("there", "said", "told"),
    [
        (["A", "B"], {}, "is a file name; say which: file=COLUMN"),
        (["NAME"], {}, "is a picture, a box, a class"),
        (["NAME", "IMAGE"], {"colour": "NAME"}, "There is no column for 'colour'"),
    ],
)
def test_columns_that_say_nothing_are_asked_for(
    there: list[str], said: dict[str, str], told: str
) -> None:
    with pytest.raises(Invalid, match=told):
        layouts.read(there, said)


def test_what_is_said_of_columns_is_read_in_pairs() -> None:
    assert layouts.said("file=A, image=B", "columns") == {"file": "A", "image": "B"}
    with pytest.raises(Invalid, match="NAME=VALUE"):
        layouts.said("file", "columns")


def test_labels_in_json_are_read_and_a_box_without_corners_is_told() -> None:
    text = '[{"class": "open", "x1": 1, "y1": 2, "x2": 3, "y2": 4}, {"class": "open"}]'
    box, problem = label_text.read(text, (10, 10))
    assert isinstance(box, Labelled)
    assert (box.label, box.x2) == ("open", 3)
    assert isinstance(problem, Problem)
    assert "the box 2 of its list" in problem.reason


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"x1": 1, "y1": 2, "x2": 3, "y2": 4}]', "the box 1 of its list"),
        ("[7]", "the box 1 of its list"),
        ('[{"class": "open", "x1": 1' + "0" * 400 + ', "y1": 2, "x2": 3, "y2": 4}]', "the box 1"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_json_that_is_no_list_of_boxes_ends_nothing(text: str, told: str) -> None:
    [problem] = label_text.read(text, (10, 10))
    assert isinstance(problem, Problem)
    assert told in problem.reason
