"""Pictures and labels on their way out of a project."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from backend.domain import Box, State
from backend.errors import Cancelled, Invalid, NotFound, Refused
from backend.labels import exports, images, labelling
from backend.projects import catalogue, classes
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    """A project of three pictures with a golden, one labelled, one clean, one not looked at."""
    made = House(sqlite, files, tmp_path / "home")
    source = {f"{name}.png": drawn.picture(shade=n, kind="PNG") for n, name in enumerate("abc")}
    labels = {"a.txt": "0 0.5 0.5 0.25 0.5\n", "b.txt": "", "classes.txt": "dent\n"}
    golden = {"goldens/clean.png": drawn.picture(shade=9, kind="PNG")}
    made.bring(drawn.lay(tmp_path / "in", {**source, **labels, **golden}))
    return made


def test_all_leaves_with_its_golden(house: House, tmp_path: Path) -> None:
    result = house.take(tmp_path / "out", "coco")
    assert (result.images, result.goldens, result.boxes, result.problems) == (3, 1, 1, ())
    loaded = json.loads((tmp_path / "out/annotations/instances_unassigned.json").read_text())
    assert [one["file_name"] for one in loaded["images"]] == ["a.png", "b.png", "c.png"]
    assert [note["bbox"] for note in loaded["annotations"]] == [[24, 12, 16, 24]]
    assert (tmp_path / "out/goldens/clean.png").is_file()


def test_clean_and_unseen_pictures_are_told_apart(house: House, tmp_path: Path) -> None:
    house.take(tmp_path / "out", "yolo")
    labels = tmp_path / "out/labels/unassigned"
    assert sorted(path.name for path in labels.iterdir()) == ["a.txt", "b.txt"]
    house.bring(tmp_path / "out", project="again")
    states = {name: one.state for name, one in house.images("again").items()}
    assert (states["b.png"], states["c.png"]) == (State.DONE, State.NEW)


def test_what_a_person_drew_leaves_without_loss(house: House, tmp_path: Path) -> None:
    image = house.images()["c.png"]
    boxes = [Box(0.1, 0.2, 0.3, 0.4, "dent"), Box(1 / 3, 2.5, 63.9999, 48, "dent")]
    with house.database.write.begin() as session:
        labelling.save(session, image.id, 0, boxes, "bo")
    for name in ("coco", "voc", "yolo", "deeppcb"):
        house.take(tmp_path / name, name)
        house.bring(tmp_path / name, project=name)
        bytes_ = {one.sha256: n for n, one in house.images(name).items()}
        again = house.boxes(name)[bytes_[image.sha256]]
        assert again == [(0.1, 0.2, 0.3, 0.4, "dent"), (0.3333, 2.5, 63.9999, 48, "dent")]


def test_an_export_can_be_a_zip(house: House, tmp_path: Path) -> None:
    house.take(tmp_path / "out.zip", "voc")
    with zipfile.ZipFile(tmp_path / "out.zip") as packed:
        assert "Annotations/a.xml" in packed.namelist()
    assert house.bring(tmp_path / "out.zip", project="again").boxes == 1


def test_a_place_that_is_taken_is_refused(house: House, tmp_path: Path) -> None:
    drawn.lay(tmp_path / "out", {"mine.txt": "precious"})
    with pytest.raises(Refused, match="is there already"):
        house.take(tmp_path / "out", "coco")
    with pytest.raises(NotFound, match="no project named 'nothing'"):
        house.take(tmp_path / "new", "coco", project="nothing")
    with pytest.raises(Invalid, match="no format 'pdf'"):
        house.take(tmp_path / "new", "pdf")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_an_export_that_is_stopped_leaves_nothing(house: House, tmp_path: Path) -> None:
    def stop(done: int, _: int) -> None:
        if done == 2:
            raise Cancelled("Enough.")

    before = set(tmp_path.iterdir())
    with house.database.read.begin() as session, pytest.raises(Cancelled):
        exports.run(session, house.files, "line 3", tmp_path / "out.zip", "coco", stop)
    assert set(tmp_path.iterdir()) == before


def test_lost_bytes_are_told_and_the_rest_leaves(house: House, tmp_path: Path) -> None:
    house.files.local_path(house.images()["b.png"].sha256).unlink()
    result = house.take(tmp_path / "out", "coco")
    assert result.images == 2
    assert [str(problem) for problem in result.problems] == [
        "b.png: its bytes are not in the store any more."
    ]


def test_deeppcb_says_which_boards_have_no_golden(house: House, tmp_path: Path) -> None:
    found = house.images()
    with house.database.write.begin() as session:
        images.set_golden(session, [found["a.png"].id], None)
    result = house.take(tmp_path / "out", "deeppcb")
    assert [problem.file for problem in result.problems] == ["a.png"]
    assert (result.images, result.boxes) == (3, 1)


def test_what_was_put_away_stays(house: House, tmp_path: Path) -> None:
    with house.database.write.begin() as session:
        images.put_away(session, [house.images()["a.png"].id])
    assert house.take(tmp_path / "out", "coco").images == 2


def _classify(house: House, source: Path) -> None:
    """A project of three pictures, two of them with a class."""
    shades = {"train/good/x.png": 21, "train/bad/y.png": 22}
    pictures = {n: drawn.picture(shade=shade, kind="PNG") for n, shade in shades.items()}
    house.bring(drawn.lay(source / "classes", pictures), "kinds")
    bare = {"z.png": drawn.picture(shade=23, kind="PNG")}
    house.bring(drawn.lay(source / "bare", bare), "kinds")


def test_what_nobody_has_looked_at_stays_and_is_counted(house: House, tmp_path: Path) -> None:
    with house.database.read.begin() as session:
        result = exports.run(session, house.files, "line 3", tmp_path / "out", "yolo")
    assert (result.images, result.left_out, result.problems) == (2, {"new": 1}, ())
    assert not list(tmp_path.glob("out/images/*/c.png"))


def test_an_export_of_nothing_is_refused(house: House, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="None of the 1 images that were asked for is done"):
        house.take(tmp_path / "out", "yolo", images=[house.images()["c.png"].id])
    with pytest.raises(Refused, match="'line 3' has no image that fits"):
        house.take(tmp_path / "out", "yolo", filter="class=nothing like it")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["coco", "voc", "yolo", "deeppcb"])
def test_classes_without_a_box_come_back_in_their_order(
    house: House, tmp_path: Path, name: str
) -> None:
    with house.database.write.begin() as session:
        project = catalogue.find(session, "line 3").id
        for kind in ("zinc", "air: much", "mould"):
            classes.ensure(session, project, kind)
    house.take(tmp_path / "out", name)
    house.bring(tmp_path / "out", project="again")
    assert house.classes("again") == ["dent", "zinc", "air: much", "mould"]


def _told(result: exports.Exported) -> list[str]:
    return [str(problem) for problem in result.problems]


def test_class_folders_say_that_they_carry_no_boxes(house: House, tmp_path: Path) -> None:
    result = house.take(tmp_path / "out", "folders")
    assert _told(result) == [
        "line 3: folders carries no boxes (left out: 1).",
        "line 3: folders carries no pictures marked as clean (left out: 1).",
    ]


@pytest.mark.parametrize("name", ["yolo", "coco", "voc", "deeppcb"])
def test_box_formats_say_that_they_carry_no_classes_of_images(
    house: House, tmp_path: Path, name: str
) -> None:
    _classify(house, tmp_path)
    told = _told(house.take(tmp_path / "out", name, "kinds"))
    assert told[0] == f"kinds: {name} carries no classes of images (left out: 2)."


@pytest.mark.parametrize("name", ["yolo", "coco", "voc", "deeppcb"])
def test_a_picture_with_a_class_does_not_leave_as_one_without_defects(
    house: House, tmp_path: Path, name: str
) -> None:
    _classify(house, tmp_path)
    house.take(tmp_path / "out", name, "kinds")
    house.bring(tmp_path / "out", project="again")
    again = house.images("again")
    assert len(again) == 3
    # Where the pictures lie in folders that a list of classes names, their classes come back.
    assert {image.state for image in again.values() if not image.label} <= {State.NEW}
    said = {image.sha256: image.label for image in house.images("kinds").values()}
    assert all(image.label in ("", said[image.sha256]) for image in again.values())


def test_what_a_format_carries_whole_is_no_problem(house: House, tmp_path: Path) -> None:
    _classify(house, tmp_path)
    assert _told(house.take(tmp_path / "out", "folders", "kinds")) == []


def test_a_picture_of_which_a_byte_has_turned_is_left_out_and_named(
    house: House, tmp_path: Path
) -> None:
    for name in ("b.png", "clean.png"):
        path = house.files.local_path(house.images()[name].sha256)
        content = bytearray(path.read_bytes())
        content[-20] ^= 1
        path.write_bytes(content)
    result = house.take(tmp_path / "out", "yolo")
    said = [str(one) for one in result.problems]
    assert all("its bytes have changed since it came in" in one for one in said)
    assert [one.partition(":")[0] for one in said] == ["clean.png", "b.png"]
    assert (result.images, result.goldens, result.boxes) == (2, 0, 1)
