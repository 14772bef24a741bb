"""Boxes are cut into a project of their own, and what is said of the crops goes back to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from sqlalchemy import func, select

from backend.domain import Box, Split, State, Task
from backend.errors import Invalid, Refused
from backend.labels import images, labelling
from backend.labels.cropping import crops, cutting
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import CropRow, ImageRow

BOXES = (Box(10, 10, 30, 20, "open", id="a" * 32), Box(70, 70, 78, 79, "short", id="b" * 32))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(str(tmp_path / "files"), tmp_path / "cache")


@pytest.fixture
def boards(database: Database, files: Files) -> str:
    """Two boards that are done, and one that is not, whose pixels tell where they are."""
    pixels = np.arange(80 * 80, dtype=np.uint16).reshape(80, 80)
    colours = np.stack([pixels % 256, pixels // 256, np.zeros_like(pixels)], -1).astype(np.uint8)
    sha256 = files.put(cv2.imencode(".png", colours)[1].tobytes())
    new = [
        NewImage("lot/1.jpg", sha256, 80, 80, BOXES, split=Split.TEST, labelled=True),
        NewImage("2.png", sha256, 80, 80, BOXES[:1], group="g", labelled=True),
        NewImage("3.png", sha256, 80, 80, BOXES),
    ]
    with database.write.begin() as session:
        made = catalogue.create(session, "boards", Task.DETECT, ("open", "short"))
        images.add(session, made.id, new, "ann")
    return "boards"


def relabel(database: Database, name: str, label: str) -> None:
    """Say of a crop of the project `defects` what it is."""
    with database.write.begin() as session:
        project = catalogue.find(session, "defects").id
        crop = images.find(session, project, name)
        if label:
            classes.ensure(session, project, label)
        labelling.save(session, crop.id, crop.version, (), "bob", state=State.DONE, label=label)


def labels(database: Database, name: str) -> list[str]:
    with database.read.begin() as session:
        image = images.find(session, catalogue.find(session, "boards").id, name)
        return sorted(box.label for box in labelling.boxes_of(session, [image.id])[image.id])


def test_each_crop_shows_its_box_and_stays_with_its_board(
    database: Database, files: Files, boards: str
) -> None:
    made = crops.cut(database, files, boards, "defects", 0.2, "ann")
    assert (made.crops, made.known) == (3, 0)
    with database.read.begin() as session:
        project = catalogue.find(session, "defects")
        first = images.find(session, project.id, f"lot/1/{'a' * 32}.png")
        other = images.find(session, project.id, f"2/{'a' * 32}.png")
        crop = session.get_one(CropRow, first.id)
        where = (crop.x1, crop.y1, crop.x2, crop.y2)
    assert project.task is Task.CLASSIFY
    assert (first.label, first.state, first.split) == ("open", State.DONE, Split.TEST)
    assert (first.group, other.group) == ("lot/1.jpg", "g")
    assert where == (6, 1, 34, 29)
    pixels = cv2.imread(str(files.local_path(first.sha256)))
    assert pixels is not None
    assert pixels.shape[:2] == (first.height, first.width) == (28, 28)
    assert int(pixels[0, 0, 0]) + 256 * int(pixels[0, 0, 1]) == 80 * 1 + 6


def test_cutting_again_adds_what_is_new(database: Database, files: Files, boards: str) -> None:
    crops.cut(database, files, boards, "defects", 0.2, "ann")
    again = crops.cut(database, files, boards, "defects", 0.2, "ann")
    assert (again.crops, again.known) == (0, 3)
    with database.read.begin() as session:
        assert session.scalar(select(func.count()).select_from(CropRow)) == 3


def test_what_is_said_of_a_crop_becomes_the_class_of_its_box_once(
    database: Database, files: Files, boards: str
) -> None:
    crops.cut(database, files, boards, "defects", 0.2, "ann")
    relabel(database, f"lot/1/{'a' * 32}.png", "hairline")
    relabel(database, f"2/{'a' * 32}.png", "")
    given = crops.give_back(database, boards, "defects", "bob")
    assert (given.changed, given.images, given.undecided, given.gone) == (1, 1, 1, 0)
    assert labels(database, "lot/1.jpg") == ["hairline", "short"]
    with database.read.begin() as session:
        image = images.find(session, catalogue.find(session, "boards").id, "lot/1.jpg")
        revision = labelling.revision(session, image.id, image.version)
    assert (revision.action, revision.author) == ("crops", "bob")
    assert crops.give_back(database, boards, "defects", "bob").changed == 0


def test_a_box_that_somebody_changed_since_keeps_what_was_said(
    database: Database, files: Files, boards: str
) -> None:
    crops.cut(database, files, boards, "defects", 0.2, "ann")
    with database.write.begin() as session:
        image = images.find(session, catalogue.find(session, "boards").id, "2.png")
        labelling.save(session, image.id, image.version, (Box(1, 1, 9, 9, "short"),), "cy")
    relabel(database, f"2/{'a' * 32}.png", "hairline")
    given = crops.give_back(database, boards, "defects", "bob")
    assert (given.changed, given.gone) == (0, 1)
    assert labels(database, "2.png") == ["short"]


def test_a_crop_that_is_not_done_gives_nothing_back(
    database: Database, files: Files, boards: str
) -> None:
    crops.cut(database, files, boards, "defects", 0.2, "ann")
    relabel(database, f"2/{'a' * 32}.png", "hairline")
    with database.write.begin() as session:
        crop = images.find(session, catalogue.find(session, "defects").id, f"2/{'a' * 32}.png")
        labelling.save(session, crop.id, crop.version, (), "cy", state=State.NEW, label="hairline")
    given = crops.give_back(database, boards, "defects", "bob")
    assert (given.changed, given.undecided) == (0, 1)


def test_what_is_said_of_a_box_after_both_were_alike_stays(
    database: Database, files: Files, boards: str
) -> None:
    crops.cut(database, files, boards, "defects", 0.2, "ann")
    relabel(database, f"2/{'a' * 32}.png", "short")
    for label in ("short", "burr"):
        rename(database, "2.png", label)
        assert crops.give_back(database, boards, "defects", "bob").changed == 0
        assert labels(database, "2.png") == [label]


def rename(database: Database, name: str, label: str) -> None:
    """Say by hand what the boxes of a board are."""
    with database.write.begin() as session:
        project = catalogue.find(session, "boards").id
        classes.ensure(session, project, label)
        image = images.find(session, project, name)
        boxes = labelling.boxes_of(session, [image.id])[image.id]
        said = [replace(box, label=label, class_id=None) for box in boxes]
        labelling.save(session, image.id, image.version, said, "cy")


def test_the_crops_of_a_board_with_the_longest_name_have_names(
    database: Database, files: Files, boards: str
) -> None:
    with database.write.begin() as session:
        project = catalogue.find(session, boards).id
        image = images.find(session, project, "2.png")
        session.get_one(ImageRow, image.id).name = "x" * 996 + ".png"
    assert crops.cut(database, files, boards, "defects", 0.2, "ann").crops == 3
    with database.read.begin() as session:
        made = session.scalars(
            select(ImageRow.name).where(
                ImageRow.name.startswith("xxx"), ImageRow.name != "x" * 996 + ".png"
            )
        )
        assert [len(name) for name in made] == [1000]


def test_a_long_name_is_cut_between_its_folders(
    database: Database, files: Files, boards: str
) -> None:
    with database.write.begin() as session:
        project = catalogue.find(session, boards).id
        image = images.find(session, project, "2.png")
        session.get_one(ImageRow, image.id).name = "x" * 30 + "../" + "y" * 960 + ".png"
    crops.cut(database, files, boards, "defects", 0.2, "ann")
    with database.read.begin() as session:
        made = session.scalars(select(ImageRow.name).where(ImageRow.name.startswith("y" * 960)))
        assert [*made] == ["y" * 960 + f"/{'a' * 32}.png"]


def test_what_cannot_be_cut_is_refused_in_a_sentence(
    database: Database, files: Files, boards: str
) -> None:
    def cut(name: str, margin: float = 0.2, source: str = boards) -> None:
        crops.cut(database, files, source, name, margin, "ann")

    with pytest.raises(Invalid, match="margin must be from 0 to 4, not -1"):
        cut("defects", -1)
    with pytest.raises(Refused, match="boards is a project of boxes"):
        cut("boards")
    with database.write.begin() as session:
        good = NewImage("good.png", "0" * 64, 9, 9, labelled=True)
        images.add(session, catalogue.create(session, "empty").id, [good], "ann")
    with pytest.raises(Refused, match="empty has no image that is done and has boxes"):
        cut("defects", source="empty")
    with database.read.begin() as session:
        assert not catalogue.known(session, "defects")
    with pytest.raises(Refused, match="empty has no crop that was cut out of boards"):
        crops.give_back(database, boards, "empty", "bob")


@pytest.mark.parametrize(
    ("box", "margin", "where"),
    [
        (Box(40, 40, 50, 60, ""), 0.0, (35, 40, 55, 60)),
        (Box(0, 0, 10, 10, ""), 0.5, (0, 0, 20, 20)),
        (Box(95, 75, 100, 80, ""), 1.0, (85, 65, 100, 80)),
        (Box(0, 0, 100, 80, ""), 0.2, (0, 0, 100, 80)),
        (Box(7.2, 7.2, 7.4, 7.4, ""), 0.0, (7, 7, 8, 8)),
    ],
)
def test_a_piece_is_a_square_inside_its_picture(
    box: Box, margin: float, where: tuple[int, int, int, int]
) -> None:
    assert cutting.window(box, 100, 80, margin) == where
