"""Classes of whole pictures, in and out again: folders, lists and tables, clear and odd ones."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from backend.domain import State, Task
from backend.labels import state_marks
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.bringing_in.class_layouts import LAYOUTS, TEST, TRAIN, Layout, Said
from tests.backend.labels.projects_full import House


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _lay(folder: Path, layout: Layout) -> Path:
    shades = itertools.count(1)
    texts = {name: os.fsencode(text) for name, text in (layout.texts or {}).items()}
    pictures = {name: drawn.picture(shade=next(shades)) for name in layout.pictures}
    return drawn.lay(folder, {**pictures, **texts})


def _said(house: House, project: str = "line 3") -> Said:
    return {name: (one.label, one.split) for name, one in house.images(project).items()}


def _task(house: House, project: str = "line 3") -> Task:
    with house.database.read.begin() as session:
        return catalogue.find(session, project).task


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_of_classes_is_read_and_nothing_lost(
    house: House, tmp_path: Path, layout: Layout
) -> None:
    result = house.bring(_lay(tmp_path / "in", layout))
    assert sorted(str(one) for one in result.problems) == sorted(layout.told)
    assert _said(house) == layout.said
    wanted = layout.classes
    if wanted is None:
        wanted = tuple(sorted({label for label, _ in layout.said.values() if label}))
        assert tuple(sorted(house.classes())) == wanted
    else:
        assert tuple(house.classes()) == wanted
    labelled = any(label for label, _ in layout.said.values())
    assert _task(house) == (Task.CLASSIFY if labelled else Task.DETECT)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_what_came_in_goes_out_and_comes_in_equal(
    house: House, tmp_path: Path, layout: Layout
) -> None:
    house.bring(_lay(tmp_path / "in", layout))
    house.take(tmp_path / "out", "folders")
    assert house.bring(tmp_path / "out", "again").problems == ()
    assert _said(house, "again") == _said(house)
    if _task(house) == Task.CLASSIFY:
        assert house.classes("again") == house.classes()
        assert _task(house, "again") == Task.CLASSIFY


def test_classes_with_the_oddest_names_come_back(house: House, tmp_path: Path) -> None:
    odd = (
        "..",
        ".",
        ".a",
        "_",
        "a/b",
        "a\\b",
        "con:",
        "x.",
        "(none)",
        "割" * 200,
        "割" * 199 + "れ",
        "%41",
    )
    table = "".join(f'{n}.jpg,"{name}"\n' for n, name in enumerate(odd))
    pictures = {f"{n}.jpg": drawn.picture(shade=n) for n in range(len(odd))}
    house.bring(drawn.lay(tmp_path / "in", pictures | {"t.csv": f"name,class\n{table}".encode()}))
    assert {label for label, _ in _said(house).values()} == set(odd)
    house.take(tmp_path / "out", "folders")
    assert house.bring(tmp_path / "out", "again").problems == ()
    assert _said(house, "again") == _said(house)
    assert house.classes("again") == house.classes()


def test_what_is_none_of_the_classes_comes_back_as_that(house: House, tmp_path: Path) -> None:
    source = {f"{label}/{n}.jpg": drawn.picture(shade=n) for n, label in enumerate("aabb")}
    house.bring(drawn.lay(tmp_path / "in", source))
    with house.database.write.begin() as session:
        state_marks.name(session, [house.images()["a/0.jpg"].id], None, "ana")
    house.take(tmp_path / "out", "folders")
    assert house.bring(tmp_path / "out", "again").problems == ()
    stood = {name: (one.label, one.state) for name, one in house.images("again").items()}
    assert stood["a/0.jpg"] == ("", State.DONE)
    assert stood["a/1.jpg"] == ("a", State.DONE)


def test_what_is_of_no_class_is_no_board_without_defects(house: House, tmp_path: Path) -> None:
    source = {f"{label}/{n}.jpg": drawn.picture(shade=n) for n, label in enumerate("aabb")}
    house.bring(drawn.lay(tmp_path / "in", source))
    with house.database.write.begin() as session:
        state_marks.name(session, [house.images()["a/0.jpg"].id], None, "ana")
        catalogue.create(session, "boxes", Task.DETECT)
    house.take(tmp_path / "out", "folders")
    house.bring(tmp_path / "out", "boxes")
    assert {one.state for one in house.images("boxes").values()} == {State.NEW}


@pytest.mark.parametrize("home", ["", "train/"])
def test_a_class_whose_folder_is_empty_is_a_class(house: House, tmp_path: Path, home: str) -> None:
    source = {f"{home}{label}/1.jpg": drawn.picture(shade=ord(label)) for label in "ac"}
    drawn.lay(tmp_path / "in", source)
    (tmp_path / "in" / home / "b").mkdir()
    assert house.bring(tmp_path / "in").problems == ()
    assert sorted(house.classes()) == ["a", "b", "c"]


def test_an_empty_folder_beside_plain_pictures_is_no_class(house: House, tmp_path: Path) -> None:
    drawn.lay(tmp_path / "in", {"1.jpg": drawn.picture()})
    (tmp_path / "in" / "later").mkdir()
    house.bring(tmp_path / "in")
    assert house.classes() == []


def test_who_sorts_pictures_is_told_of_folders_that_are_no_classes(
    house: House, tmp_path: Path
) -> None:
    sorted_ = {f"{label}/1.jpg": drawn.picture(shade=ord(label)) for label in "ac"}
    house.bring(drawn.lay(tmp_path / "in", sorted_))
    nested = {f"x/{label}/2.jpg": drawn.picture(shade=ord(label) + 9) for label in "ac"}
    nested["y/3.jpg"] = drawn.picture(shade=7)
    (problem,) = house.bring(drawn.lay(tmp_path / "deep", nested)).problems
    assert problem.file == "x/a/2.jpg"
    assert "only below train/, val/ or test/" in problem.reason


def test_a_picture_in_two_classes_is_two_and_is_counted(house: House, tmp_path: Path) -> None:
    one = drawn.picture()
    result = house.bring(drawn.lay(tmp_path / "in", {"a/1.jpg": one, "b/1.jpg": one}))
    assert (result.images, result.duplicates) == (2, 1)


def test_hundreds_without_a_class_before_the_first_hide_no_class(
    house: House, tmp_path: Path
) -> None:
    bare = {f"test/{n}.png": drawn.numbered(n) for n in range(300)}
    source = drawn.lay(tmp_path / "in", bare | {"train/a/x.png": drawn.numbered(999)})
    (problem,) = house.bring(source).problems
    assert "as do 299 more" in problem.reason
    assert _task(house) == Task.CLASSIFY
    assert house.images()["a/x.png"].label == "a"


def test_two_thousand_of_cifar_come_in_go_out_and_come_in_equal(
    house: House, tmp_path: Path, cifar10: Path
) -> None:
    for folder in sorted(cifar10.glob("t*/*")):
        place = tmp_path / "in" / folder.relative_to(cifar10)
        place.mkdir(parents=True)
        for picture in sorted(folder.iterdir())[:100]:
            (place / picture.name).symlink_to(picture)
    result = house.bring(tmp_path / "in")
    assert (result.images, result.problems) == (2000, ())
    said = _said(house)
    assert said["test/cat/0000.jpg"] == ("cat", TEST)
    assert said["train/cat/0000.jpg"] == ("cat", TRAIN)
    house.take(tmp_path / "out", "folders")
    again = house.bring(tmp_path / "out", "again")
    assert (again.images, again.problems) == (2000, ())
    assert _said(house, "again") == said
    bytes_of = {name: one.sha256 for name, one in house.images().items()}
    assert {name: one.sha256 for name, one in house.images("again").items()} == bytes_of
