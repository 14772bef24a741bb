"""Pictures with their labels in the warehouse: as they are, once, and back into a project."""

from __future__ import annotations

import base64
import signal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from backend.domain import Box, Split, State
from backend.incoming import places
from backend.incoming.places import Wanted
from backend.incoming.tables import TableOptions
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.labels.imports import Into
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.upkeep import removal
from backend.warehouse import pictures
from backend.warehouse.pictures import Enlisted
from tests import warehouses
from tests.backend.incoming import snow
from tests.warehouses import Place, Publishing

BOXES = [Box(1, 2.0625, 8.3, 9, "mouse bite, 'x'"), Box(3, 3, 9.1, 10, "3")]
TOLD = (
    "SELECT i.name, i.sha256, i.split, i.group_name, i.is_golden, g.name, i.state = 'done', "
    "c.name, b.x1, b.y1, b.x2, b.y2 FROM image i JOIN project p ON p.id = i.project_id "
    "LEFT JOIN image g ON g.id = i.golden_id "
    "LEFT JOIN box b ON b.image_id = i.id AND i.state = 'done' "
    "LEFT JOIN class c ON c.id = b.class_id WHERE p.name = :name"
)
ROWS = "SELECT filename, {columns} FROM {view} WHERE project = 'boards'"


@pytest.fixture
def house(sqlite: Database, tmp_path: Path, place: Place) -> Publishing:
    return warehouses.publishing(sqlite, tmp_path, place)


def fill(database: Database, files: Files, folder: Path) -> dict[str, bytes]:
    """A golden, a board with boxes, one without, one that nobody has looked at yet."""
    drawn = snow.draw(folder, 1, 4)
    golden, boxed, clean, new = drawn
    told = [
        NewImage(golden, files.put(drawn[golden]), 16, 16, is_golden=True),
        NewImage(
            boxed, files.put(drawn[boxed]), 16, 16, split=Split.TRAIN, group="lot 7", golden=golden
        ),
        NewImage(clean, files.put(drawn[clean]), 16, 16, split=Split.TEST, golden=golden),
        NewImage(new, files.put(drawn[new]), 16, 16, group="lot 8"),
    ]
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", classes=[one.label for one in BOXES])
        images.add(session, project.id, told, "ana")
        ids = images.ids(session, project.id, drawn)
        labelling.save(session, ids[boxed], 0, BOXES, "ana", state=State.DONE)
        labelling.save(session, ids[clean], 0, [], "ana", state=State.DONE)
        labelling.save(session, ids[new], 0, BOXES[:1], "ana", state=State.STARTED)
    return drawn


def enlist(house: Publishing, files: Files, largest: int = 1_000_000) -> Enlisted:
    with house.database.read() as session:
        project = catalogue.find(session, "boards").id
    return pictures.enlist(house.database, files, project, largest)


def ask(house: Publishing, view: str, columns: str) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for name, *row in house.place.ask(ROWS.format(columns=columns, view=view)):
        found.setdefault(name, []).append(tuple(row))
    return found


def test_pictures_stand_in_each_layout_once_and_go_with_their_image(
    house: Publishing, files: Files, tmp_path: Path
) -> None:
    drawn = fill(house.database, files, tmp_path / "drawn")
    golden, boxed, clean, new = drawn
    assert enlist(house, files) == Enlisted(4, 4, [])
    house.load()
    assert enlist(house, files) == Enlisted(4, 0, [])
    found = ask(house, "pcb_labeled_data", "image_bytes, golden, lot, split, labelled, is_golden")
    assert {name: bytes(row[0]) for name, [row] in found.items()} == drawn
    assert found[boxed][0][1:4] == (golden, "lot 7", "train")
    flags = {name: tuple(map(bool, row[4:])) for name, [row] in found.items()}
    assert flags == {
        golden: (False, True), boxed: (True, False), clean: (True, False), new: (False, False)
    }  # fmt: skip
    rows = ask(house, "train_images_labels", "image_data, class, xmin, ymin, xmax, ymax")
    corners = [(one.label, one.x1, one.y1, one.x2, one.y2) for one in BOXES]
    assert sorted(row[1:] for row in rows[boxed]) == sorted(corners)
    assert [rows[name][0][1] for name in (golden, clean, new)] == [None] * 3
    if not house.place.url.startswith("sqlite"):
        assert {base64.b64decode(row[0]) for row in rows[boxed]} == {drawn[boxed]}
    labels = ask(house, "labels_train", "class")
    assert {name: len(one) for name, one in labels.items()} == {boxed: 2}
    put_away(house.database, clean)
    house.load()
    kept = house.place.ask("SELECT deleted, data IS NULL FROM loupe_picture")
    assert sorted(map(tuple, kept)) == [(False, False)] * 3 + [(True, True)]
    assert set(ask(house, "pcb_labeled_data", "split")) == set(drawn) - {clean}


def put_away(database: Database, name: str) -> None:
    with database.write.begin() as session:
        project = catalogue.find(session, "boards").id
        images.put_away(session, list(images.ids(session, project, [name]).values()))
    removal.purge(database, project)


@pytest.fixture
def snowy(sqlite: Database, tmp_path: Path, emulator: int) -> Publishing:
    place = warehouses.place("snowflake", tmp_path, port=emulator)
    return warehouses.publishing(sqlite, tmp_path, place, lease=4.0)


def test_what_was_published_comes_back_as_it_was(
    snowy: Publishing, files: Files, tmp_path: Path
) -> None:
    fill(snowy.database, files, tmp_path / "drawn")
    enlist(snowy, files)
    killed = snowy.start("merging picture", signal.SIGKILL)
    assert killed.wait(120) == -signal.SIGKILL
    snowy.load()
    wanted = Wanted(table=TableOptions({}, {"project": "boards"}))
    for view in ("pcb_labeled_data", "train_images_labels"):
        into = Into(snowy.database, files, view, "ana")
        done = places.from_table(into, f"table:{view}", snowy.place.address, snowy.settings, wanted)
        assert (done.images, done.goldens, done.boxes, done.problems) == (3, 1, 2, ())
        assert told(snowy.database, view) == told(snowy.database, "boards")


def told(database: Database, project: str) -> list[tuple[Any, ...]]:
    with database.read() as session:
        return sorted(
            (tuple(row) for row in session.execute(text(TOLD), {"name": project})), key=repr
        )


def test_a_picture_that_is_lost_or_too_large_stays_with_its_reason(
    sqlite: Database, files: Files, tmp_path: Path
) -> None:
    house = warehouses.publishing(sqlite, tmp_path, warehouses.place("sqlite", tmp_path))
    drawn = fill(sqlite, files, tmp_path / "drawn")
    lost, *large = drawn
    with sqlite.read() as session:
        project = catalogue.find(session, "boards").id
        sha256 = images.find(session, project, lost).sha256
    files.local_path(sha256).unlink()
    found = enlist(house, files, 100)
    assert (found.pictures, found.new) == (0, 0)
    assert found.left_out[0].startswith(f"{lost} stays: the file {sha256[:12]}")
    told = " ".join(found.left_out)
    assert all(f"{one} has {len(drawn[one])} bytes" in told for one in large)
