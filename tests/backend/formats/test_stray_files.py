"""One file that strayed into a set never decides how the rest of it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.formats import format_table
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

A, B, C = (drawn.picture(shade=shade, kind="PNG") for shade in (1, 2, 3))
LINE = "1 0.5 0.5 0.5 0.5\n"
BOX = [(16.0, 12.0, 48.0, 36.0, "spur")]
YAML = "train: images/train\nval: images/val\nnames: [dent, spur]\n"
XML = "<annotation><filename>a.png</filename></annotation>"
BARE: dict[str, bytes | str] = {
    "images/train/a.png": A,
    "images/val/b.png": B,
    "labels/train/a.txt": LINE,
    "labels/val/b.txt": LINE,
    "classes.txt": "dent\nspur\n",
}
YOLO = BARE | {"data.yaml": YAML}
SPLIT_FIRST: dict[str, bytes | str] = {
    "train/images/a.png": A,
    "valid/images/b.png": B,
    "train/labels/a.txt": LINE,
    "valid/labels/b.txt": LINE,
    "data.yaml": "train: train/images\nval: valid/images\nnames: [dent, spur]\n",
}
COCO: dict[str, bytes | str] = {
    "images/a.png": A,
    "images/b.png": B,
    "all.json": json.dumps(
        {
            "annotations": [
                {"image_id": n, "category_id": 1, "bbox": [16, 12, 32, 24]} for n in (1, 2)
            ],
            "images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "b.png"}],
            "categories": [{"id": 1, "name": "spur"}],
        }
    ),
}
EMPTY: dict[str, bytes | str] = {"old/info.json": '{"images":[],"info":{}}'}
PAIR: dict[str, bytes | str] = {"images/train/x_test.png": C, "images/train/x_temp.png": C}
NEGATIVE: dict[str, bytes | str] = {
    "images/train/n.png": C,
    "labels/train/n.txt": "-1 .5 .5 .1 .1\n",
}
WORDS: dict[str, bytes | str] = {
    "images/train/n.png": C,
    "labels/train/n.txt": "seen at 1 2 3 4\n",
}
STRAYS = {
    "an empty COCO file": EMPTY,
    "a pair": PAIR,
    "a negative class": NEGATIVE,
    "a line of words": WORDS,
    "an annotation": {"old/a.xml": XML},
}


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _boxes(house: House) -> dict[str, list[tuple[object, ...]]]:
    boxes = house.boxes()
    seen = {A: "a", B: "b"}
    found = {house.files.read(one.sha256): boxes[name] for name, one in house.images().items()}
    return {name: found.get(content, []) for content, name in seen.items()}


@pytest.mark.parametrize("known", [YOLO, BARE], ids=["data.yaml", "labels alone"])
@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
def test_a_stray_file_leaves_yolo_labels_alone(
    house: House, tmp_path: Path, known: dict[str, bytes | str], stray: dict[str, bytes | str]
) -> None:
    house.bring(drawn.lay(tmp_path / "in", known | stray))
    assert _boxes(house) == {"a": BOX, "b": BOX}


@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
def test_a_stray_file_leaves_a_coco_file_alone(
    house: House, tmp_path: Path, stray: dict[str, bytes | str]
) -> None:
    house.bring(drawn.lay(tmp_path / "in", COCO | stray))
    assert _boxes(house) == {"a": BOX, "b": BOX}


def test_a_stray_pair_in_one_split_does_not_cut_the_set(house: House, tmp_path: Path) -> None:
    pair: dict[str, bytes | str] = {"train/images/x_test.png": C, "train/images/x_temp.png": C}
    house.bring(drawn.lay(tmp_path / "in", SPLIT_FIRST | pair))
    assert _boxes(house) == {"a": BOX, "b": BOX}
    assert len(house.images()) == 4


def test_a_data_yaml_without_labels_leaves_annotations_alone(tmp_path: Path) -> None:
    voc: dict[str, bytes | str] = {"a.png": A, "a.xml": XML, "data.yaml": YAML}
    (part,) = format_table.parts(drawn.opened(drawn.lay(tmp_path / "in", voc)))
    assert part.format.name == "voc"


def test_two_sets_side_by_side_are_still_told_apart(tmp_path: Path) -> None:
    two = {f"one/{name}": content for name, content in COCO.items()}
    two |= {f"two/{name}": content for name, content in BARE.items()}
    parts = format_table.parts(drawn.opened(drawn.lay(tmp_path / "in", two)))
    assert [part.format.name for part in parts] == ["coco", "yolo"]
