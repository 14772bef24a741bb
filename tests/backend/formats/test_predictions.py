"""What another program found, read from its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.errors import Invalid
from backend.formats import predictions

IMAGES = {"lot 1/a.png": 7, "b.png": 8, "lot 2/c.png": 9, "c.png": 10}
CLASSES = ("open", "short")


def read(path: Path, content: str) -> predictions.Predictions:
    path.write_text(content)
    return predictions.read(path, IMAGES, CLASSES, "found")


@pytest.mark.parametrize(
    ("named", "image"),
    [
        ({"file_name": "lot 1/a.png"}, "lot 1/a.png"),
        ({"image_id": 8}, "b.png"),
        ({"image_id": "b"}, "b.png"),
        ({"image_id": "a.png"}, "lot 1/a.png"),
        ({"file_name": "c.png"}, "c.png"),
    ],
)
def test_coco_results_name_images_in_several_ways(
    named: dict[str, object], image: str, tmp_path: Path
) -> None:
    entry = {**named, "category_id": 2, "bbox": [1, 2, 30, 40], "score": 0.5}
    found = read(tmp_path / "f", json.dumps([entry])).found
    ((name, (one,)),) = found.items()
    assert (name, one.label, one.x2, one.y2, one.score) == (image, "short", 31, 42, 0.5)


def test_a_table_is_read_and_empty_images_are_not_detections(tmp_path: Path) -> None:
    lines = ["name,label,score,x1,y1,x2,y2", "b.png,open,.9,1,2,3,4", "c.png,,,,,,"]
    found = read(tmp_path / "f", "\n".join(lines)).found
    assert {name: len(rows) for name, rows in found.items()} == {"b.png": 1}


def test_what_is_not_here_is_counted(tmp_path: Path) -> None:
    entry = {"bbox": [0, 0, 9, 9], "score": 1.0}
    strange = [
        {**entry, "image_id": "z", "category": "open"},
        {**entry, "image_id": "b", "category": "cat"},
    ]
    taken = read(tmp_path / "f", json.dumps(strange))
    assert (dict(taken.found), taken.strange_images, taken.strange_classes) == ({}, 1, 1)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[{", "line 1: this is no JSON"),
        ('{"images": []}', "no list of COCO results"),
        ("[3]", "entry 1: a result is an object"),
        ("a,b\n1,2", "no column label, name, score, x1, x2, y1, y2"),
        ('[{"image_id": "b", "category": "open", "score": 1}]', "entry 1: a prediction needs"),
        ('[{"image_id": "b", "category": "open", "score": 2, "bbox": [0,0,1,1]}]', "not between"),
        ("name,label,score,x1,y1,x2,y2\nb.png,open,1,5,5,2,9", "line 2: the box is empty"),
        ('[{"image_id": "b", "category": "open", "score": NaN, "bbox": [0,0,1,1]}]', "not between"),
    ],
)
def test_what_is_no_prediction_is_refused_by_its_place(
    content: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match=sentence):
        read(tmp_path / "f", content)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Invalid, match="not UTF-8"):
        predictions.read(tmp_path / "f", IMAGES, CLASSES, "found")
