"""A file that may hold labels, and from which nothing was taken, is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

A = drawn.picture(shade=1, kind="PNG")
COCO = json.dumps(
    {
        "images": [{"id": 1, "file_name": "a.png"}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [16, 12, 32, 24]}],
        "categories": [{"id": 1, "name": "spur"}],
    }
)
PLAIN = "the source was read as Plain pictures, or a folder a class."


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _told(house: House, folder: Path, files: dict[str, bytes | str]) -> list[str]:
    return [str(one) for one in house.bring(drawn.lay(folder, files)).problems]


def test_a_coco_file_that_is_not_utf_8_is_named(house: House, tmp_path: Path) -> None:
    told = _told(house, tmp_path / "in", {"a.png": A, "all.json": COCO.encode("utf-16")})
    assert told == [
        "all.json: no label was taken from it: it is not UTF-8 text: invalid start byte at byte 0."
    ]


def test_a_file_pointed_at_that_is_not_utf_8_is_named(house: House, tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {"a.png": A, "all.json": COCO.encode("utf-16"), "b.json": "{}"}
    (problem,) = house.bring(drawn.lay(tmp_path / "in", files) / "all.json").problems
    assert str(problem).startswith("all.json: no label was taken from it: it is not UTF-8 text")


def test_a_json_file_of_no_known_format_is_named(house: House, tmp_path: Path) -> None:
    told = _told(house, tmp_path / "in", {"a.png": A, "a.json": '{"shapes": []}'})
    assert told == [f"a.json: no label was taken from it: {PLAIN}"]


def test_many_files_that_were_not_read_are_one_line(house: House, tmp_path: Path) -> None:
    many: dict[str, bytes | str] = {f"{n}.json": "{}" for n in range(5)}
    told = _told(house, tmp_path / "in", {"a.png": A, **many, "x.yaml": "a: 1"})
    assert told == [
        f"0.json: no label was taken from it and 4 more of its kind: {PLAIN}",
        f"x.yaml: no label was taken from it: {PLAIN}",
    ]


def test_a_data_yaml_beside_a_coco_file_is_named(house: House, tmp_path: Path) -> None:
    both: dict[str, bytes | str] = {"a.png": A, "all.json": COCO, "data.yaml": "names: [dent]"}
    told = _told(house, tmp_path / "in", both)
    assert told == ["data.yaml: no label was taken from it: the source was read as COCO JSON."]


def test_what_was_read_is_not_named_in_sets_side_by_side(house: House, tmp_path: Path) -> None:
    yolo: dict[str, bytes | str] = {
        "two/x/images/b.png": drawn.picture(shade=2, kind="PNG"),
        "two/x/labels/b.txt": "0 .5 .5 .5 .5",
        "two/x/data.yaml": "train: images\nval: images\nnames: [dent]",
        "two/x/args.yaml": "epochs: 3",
    }
    one: dict[str, bytes | str] = {"one/a.png": A, "one/all.json": COCO, "one/odd.json": "{}"}
    (told,) = _told(house, tmp_path / "in", yolo | one)
    assert told.startswith("one/odd.json: no label was taken from it: the source was read as ")
