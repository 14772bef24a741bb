"""The layouts in which label sets are met, each read to the same boxes."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image

from backend.domain import Split
from backend.formats import box_bounds
from backend.formats.base import Item, Labelled
from backend.safe_pictures import PictureHeader
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

A, B = drawn.picture(shade=1), drawn.picture(shade=2)
LINE = "1 0.5 0.5 0.5 0.5\n"
BOX = (16.0, 12.0, 48.0, 36.0)
Laid = dict[str, bytes | str]
TRAIN, VAL, TEST = Split.TRAIN, Split.VAL, Split.TEST
NAMES = "names: [dent, spur]\n"
XML = (
    "<annotation><filename>{}</filename><object><name>spur</name><bndbox><xmin>16</xmin>"
    "<ymin>12</ymin><xmax>48.0</xmax><ymax>36</ymax></bndbox></object></annotation>"
)


def _coco(*names: str, label: str = "spur") -> str:
    """Annotations before images, ids as they come, a segmentation and another key between."""
    return json.dumps(
        {
            "annotations": [
                {
                    "image_id": f"i{n}",
                    "category_id": 7,
                    "bbox": [16, 12, 32, 24],
                    "segmentation": [],
                }
                for n, _ in enumerate(names)
            ],
            "info": {"images": [1, 2]},
            "images": [{"id": f"i{n}", "file_name": name} for n, name in enumerate(names)],
            "categories": [{"id": 7, "name": label, "supercategory": "x"}],
        }
    )


@dataclass(frozen=True)
class Layout:
    """Files, and the splits in which the two pictures a and b must come."""

    name: str
    files: Laid
    splits: tuple[Split | None, Split | None] = (TRAIN, VAL)
    label: str = "spur"
    point_at: str = ""
    only_a: bool = False
    more: Laid = field(default_factory=dict)


YOLO: Laid = {
    "images/train/a.jpg": A,
    "images/val/b.jpg": B,
    "labels/train/a.txt": LINE,
    "labels/val/b.txt": LINE,
}
SPLIT_FIRST: Laid = {
    "train/images/a.jpg": A,
    "valid/images/b.jpg": B,
    "train/labels/a.txt": LINE,
    "valid/labels/b.txt": LINE,
}
FLAT: Laid = {"images/a.jpg": A, "images/b.jpg": B, "labels/a.txt": LINE, "labels/b.txt": LINE}
BESIDE: Laid = {"a.jpg": A, "b.jpg": B, "a.txt": LINE, "b.txt": LINE}
FROM_ELSEWHERE = "train: /home/x/set/images/train\nval: C:\\sets\\images\\val\n"
PLACES = "train: images/train\nval: images/val\n"
VOC: Laid = {
    "Annotations/a.xml": XML.format("other.png"),
    "Annotations/b.xml": XML.format("b.jpg"),
    "JPEGImages/a.jpg": A,
    "JPEGImages/b.jpg": B,
    "ImageSets/Main/train.txt": "a\n",
    "ImageSets/Main/val.txt": "b 1\n",
    "ImageSets/Main/trainval.txt": "a\nb\n",
    "ImageSets/Main/spur_train.txt": "a -1\n",
}
PCB: Laid = {"g/a_test.jpg": A, "g/a_temp.jpg": drawn.picture(shade=9)}
PAIR = "16 12 48 36 4"

LAYOUTS = (
    Layout("yolo: data.yaml", YOLO | {"data.yaml": PLACES + NAMES}),
    Layout("yolo: no data.yaml", YOLO | {"classes.txt": "dent\nspur\n"}),
    Layout("yolo: no names at all", YOLO, label="1"),
    Layout("yolo: names by number", YOLO | {"x.yml": PLACES + "names: {0: dent, 1: spur}"}),
    Layout("yolo: path of another machine", YOLO | {"d.yaml": FROM_ELSEWHERE + NAMES}),
    Layout("yolo: path below", {f"sub/{n}": c for n, c in YOLO.items()} | {
        "d.yaml": "path: sub\n" + PLACES + NAMES
    }),
    Layout("yolo: splits above, wrong by one", SPLIT_FIRST | {
        "data.yaml": "train: ../train/images\nval: ../valid/images\ntest: ../test/images\n" + NAMES
    }),
    Layout("yolo: splits above, no yaml", SPLIT_FIRST | {"classes.txt": "dent\nspur"}),
    Layout("yolo: lists", FLAT | {
        "data.yaml": "train: train.txt\nval: [val.txt]\n" + NAMES,
        "train.txt": "./images/a.jpg\n",
        "val.txt": "/far/away/images/b.jpg\n",
    }),
    Layout("yolo: train is val", FLAT | {
        "d.yaml": "train: images\nval: images\n" + NAMES
    }, (None, None)),
    Layout("yolo: darknet", BESIDE | {"obj.names": "dent\nspur\n", "obj.data": "x"}, (None, None)),
    Layout("yolo: labelImg", BESIDE | {"classes.txt": "dent\r\nspur\r\n"}, (None, None)),
    Layout("yolo: byte order mark", YOLO | {
        "data.yaml": PLACES + NAMES, "labels/train/a.txt": "\ufeff" + LINE
    }),
    Layout("yolo: outlines", YOLO | {
        "data.yaml": PLACES + NAMES,
        "labels/train/a.txt": "1 .25 .25 .75 .3 .6 .75 .3 .5",
        "labels/val/b.txt": "1 .25 .25 .75 .25 .75 .75 .25 .75",
    }),
    Layout("yolo: with confidence", YOLO | {
        "data.yaml": PLACES + NAMES, "labels/train/a.txt": "1.0 .5 .5 .5 .5 .93"
    }),
    Layout("yolo: key points", YOLO | {
        "data.yaml": "kpt_shape: [1, 3]\n" + PLACES + NAMES,
        "labels/train/a.txt": "1 .5 .5 .5 .5 .1 .1 2",
    }),
    Layout("yolo: pointed at", YOLO | {"d.yaml": PLACES + NAMES}, point_at="d.yaml"),
    Layout(
        "yolo: pointed at a list",
        FLAT | {"train.txt": "images/a.jpg\n", "classes.txt": "dent\nspur"},
        point_at="train.txt",
        only_a=True,
    ),
    Layout("voc: as published", VOC),
    Layout("voc: nested", {f"VOCdevkit/VOC2012/{name}": c for name, c in VOC.items()}),
    Layout("voc: beside", {
        "x/a.jpg": A, "x/a.xml": XML.format("a.png"), "x/b.jpg": B, "x/b.xml": XML.format("b")
    }, (None, None)),
    Layout("voc: other stem", {
        "a.jpg": A, "1.xml": XML.format("/home/y/a.jpg"), "b.jpg": B, "b.xml": XML.format("")
    }, (None, None)),
    Layout("voc: lines", {
        "images/a.jpg": A, "truth/a.txt": "spur 16 12 48 36\n",
        "images/b.jpg": B, "truth/b.txt": "spur 16 12 48 36 difficult\n",
    }, (None, None)),
    Layout("voc: pointed at a list", VOC, point_at="ImageSets/Main/train.txt", only_a=True),
    Layout("coco: as published", {
        "annotations/instances_train2017.json": _coco("a.jpg"), "train2017/a.jpg": A,
        "annotations/instances_val2017.json": _coco("b.jpg"), "val2017/b.jpg": B,
        "annotations/captions_train2017.json": _coco("a.jpg", label="words"),
    }),
    Layout("coco: one name in two splits", {
        "annotations/instances_train2017.json": _coco("a.jpg"), "train2017/a.jpg": A,
        "annotations/instances_val2017.json": _coco("b.jpg"), "val2017/b.jpg": B,
    }, more={"val2017/a.jpg": drawn.picture(shade=5), "train2017/b.jpg": drawn.picture(shade=6)}),
    Layout("coco: beside, in split folders", {
        "train/_annotations.coco.json": _coco("a.jpg"), "train/a.jpg": A,
        "valid/_annotations.coco.json": _coco("b.jpg"), "valid/b.jpg": B,
    }),
    Layout("coco: one file", {
        "all.json": _coco("images/a.jpg", "/far/away/b.jpg"), "images/a.jpg": A, "images/b.jpg": B,
    }, (None, None)),
    Layout("coco: pointed at", {
        "annotations/instances_train.json": _coco("a.jpg"), "images/a.jpg": A, "images/b.jpg": B,
    }, point_at="annotations/instances_train.json", only_a=True),
    Layout("deeppcb: spaces", PCB | {"trainval.txt": "g/a.jpg g_not/a.txt", "g_not/a.txt": PAIR},
           only_a=True),
    Layout("deeppcb: commas", PCB | {
        "trainval.txt": "g/a.jpg,g_not/a.txt\r\n", "g_not/a.txt": PAIR.replace(" ", ",") + "\r\n",
    }, only_a=True),
    Layout("deeppcb: both named", PCB | {
        "trainval.txt": "g/a_temp.jpg g/a_test.jpg g_not/a.txt", "g_not/a.txt": PAIR,
    }, only_a=True),
    Layout("deeppcb: no list", PCB | {"g_not/a.txt": PAIR}, (None, None), only_a=True),
    Layout("deeppcb: pointed at", PCB | {
        "trainval.txt": "g/a.jpg g_not/a.txt", "g_not/a.txt": PAIR,
    }, only_a=True, point_at="trainval.txt"),
)  # fmt: skip


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_is_recognised_and_read(house: House, tmp_path: Path, layout: Layout) -> None:
    source = drawn.lay(tmp_path / "in", layout.files | layout.more)
    result = house.bring(source / layout.point_at)
    assert result.problems == ()
    boxes = house.boxes()
    labelled = {
        house.files.read(one.sha256): (one.split, boxes[name])
        for name, one in house.images().items()
        if boxes[name]
    }
    box = [(*BOX, layout.label)]
    wanted = {A: (layout.splits[0], box)} | ({} if layout.only_a else {B: (layout.splits[1], box)})
    assert labelled == wanted
    assert house.bring(source / layout.point_at).images == 0


def test_one_picture_is_a_source_too(house: House, tmp_path: Path) -> None:
    drawn.lay(tmp_path / "in", {"a.jpg": A, "b.jpg": B})
    assert house.bring(tmp_path / "in" / "a.jpg").images == 1
    assert set(house.images()) == {"a.jpg"}


def test_boxes_of_a_turned_photo_turn_with_it(house: House, tmp_path: Path) -> None:
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x0112] = 6  # to be seen turned by a quarter, clockwise
    Image.new("L", (64, 48), 5).save(out, "JPEG", exif=exif)
    stored = "<size><width>64</width><height>48</height></size><object>"
    seen = "<size><width>48</width><height>64</height></size><object>"
    files: Laid = {
        "stored.jpg": out.getvalue(),
        "stored.xml": XML.format("").replace("<object>", stored),
        "seen.jpg": out.getvalue(),
        "seen.xml": XML.format("").replace("<object>", seen),
    }
    assert house.bring(drawn.lay(tmp_path / "in", files)).problems == ()
    assert house.boxes() == {
        "stored.jpg": [(48 - 36, 16, 48 - 12, 48, "spur")],
        "seen.jpg": [(*BOX, "spur")],
    }
    image = house.images()["stored.jpg"]
    assert (image.width, image.height) == (48, 64)


def test_a_file_name_that_is_no_text_is_told(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", {"a.jpg": A})
    Path(os.fsdecode(os.fsencode(source) + b"/b\xff.jpg")).write_bytes(B)
    (problem,) = house.bring(source).problems
    assert str(problem) == "b\ufffd.jpg: its name is not readable text."


def test_what_systems_leave_behind_is_no_picture(house: House, tmp_path: Path) -> None:
    junk: Laid = {"__MACOSX/._a.jpg": "x", ".trash/b.jpg": "x", "Thumbs.db": "x", "._a.jpg": "x"}
    result = house.bring(drawn.lay(tmp_path / "in", junk | {"a.jpg": A}))
    assert (result.images, result.problems) == (1, ())


def test_pictures_that_no_label_speaks_of_come_in_bare(house: House, tmp_path: Path) -> None:
    source = drawn.lay(tmp_path / "in", VOC | {"JPEGImages/c.jpg": drawn.picture(shade=7)})
    assert house.bring(source).images == 3
    assert house.images()["c.jpg"].version == 0


def test_a_box_may_stick_out_by_a_pixel_without_a_word() -> None:

    item = Item("a", bytes, (Labelled(-1, 0, 65, 48, "dent"),), True)
    (box,), problems = box_bounds.fit(item, PictureHeader("JPEG", 64, 48, "L"))
    assert ((box.x1, box.x2), problems) == ((0, 64), [])
