"""The real data sets, whole: their counts, and every box again after export and import."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from pycocotools.coco import COCO

from backend.domain import Split
from backend.storage import engine
from backend.storage.files import Files
from tests import real_data
from tests.backend.labels.projects_full import House

COUNTS = {
    "hripcb": (18, 74),
    "photos": (283, 2085),
    "cocoval": (164, 1560),
    "facemask": (853, 4072),
    "deeppcb": (1500, 10013),
}
# Ultralytics' own checker and loader, in a process of their own.
ULTRALYTICS = """
import collections, json, sys
from ultralytics.data.dataset import YOLODataset
from ultralytics.data.utils import check_det_dataset
data = check_det_dataset(sys.argv[1], autodownload=False)
counts, boxes = {}, collections.Counter()
for split in ("train", "val"):
    loaded = YOLODataset(img_path=data[split], data=data, augment=False)
    counts[split] = len(loaded)
    for labels in loaded.labels:
        boxes.update(data["names"][int(k)] for k in labels["cls"].ravel())
print(json.dumps({"images": counts, "boxes": boxes}))
"""


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _same_again(house: House, tmp_path: Path, formats: tuple[str, ...]) -> None:
    """Out and in again in each format: the same boxes of the same pictures."""
    before = _by_bytes(house, "line 3")
    assert sum(before.values()) > 0
    for name in formats:
        out = tmp_path / name
        written = house.take(out, name)
        again = house.bring(out, project=name)
        assert (again.problems, again.images) == ((), written.images)
        assert again.boxes == written.boxes
        assert _by_bytes(house, name) == before, name


def _by_bytes(house: House, project: str) -> Counter[object]:
    """Bytes, split, the golden's bytes and boxes of every image; names differ by format."""
    images = house.images(project)
    boxes = house.boxes(project)
    hashes = {one.id: one.sha256 for one in images.values()}
    return Counter(
        (one.sha256, one.split, hashes.get(one.golden_id or 0), tuple(boxes[name]))
        for name, one in images.items()
        if not one.is_golden
    )


@pytest.mark.again
def test_deeppcb_comes_whole_and_goes_whole(house: House, deeppcb: Path, tmp_path: Path) -> None:
    result = house.bring(deeppcb)
    assert (result.images, result.goldens, result.boxes) == (1500, 1500, 10013)
    assert result.problems == ()
    images, boxes = house.images(), house.boxes()
    assert house.classes() == ["open", "short", "mousebite", "spur", "copper", "pin-hole"]
    for split, count, per_class in (
        (Split.TRAIN, 1000, (1283, 1028, 1379, 1142, 1010, 1031)),
        (Split.TEST, 500, (659, 478, 586, 483, 464, 470)),
    ):
        names = [name for name, one in images.items() if one.split == split]
        found = Counter(box[4] for name in names for box in boxes[name])
        assert len(names) == count
        assert tuple(found[kind] for kind in house.classes()) == per_class
    assert all(one.golden_id for one in images.values() if not one.is_golden)
    assert house.bring(deeppcb).skipped == 3000
    _same_again(house, tmp_path, ("deeppcb", "coco", "voc", "yolo"))


def test_face_masks_come_whole_and_go_whole(house: House, facemask: Path, tmp_path: Path) -> None:
    result = house.bring(facemask)
    assert (result.images, result.boxes, result.problems) == (853, 4072, ())
    assert result.duplicates == 5
    assert house.per_class() == {
        "with_mask": 3232,
        "without_mask": 717,
        "mask_weared_incorrect": 123,
    }
    splits = Counter(one.split for one in house.images().values())
    assert splits == {Split.TRAIN: 597, Split.VAL: 128, Split.TEST: 128}
    _same_again(house, tmp_path, ("coco", "voc", "yolo"))


def test_hripcb_comes_with_its_clean_boards(house: House, hripcb: Path, tmp_path: Path) -> None:
    result = house.bring(hripcb)
    assert (result.images, result.goldens, result.boxes) == (18, 2, 74)
    assert result.problems == ()
    _same_again(house, tmp_path, ("coco", "voc", "yolo"))


def test_photos_come_as_two_sets_of_one_source(house: House, photos: Path, tmp_path: Path) -> None:
    result = house.bring(photos)
    assert (result.images, result.boxes) == (283, 1399 + 686)
    assert result.problems == ()
    kinds = Counter(name.split("/")[0] for name in house.images())
    assert kinds == {"coco": 198, "voc2012": 85}
    _same_again(house, tmp_path, ("coco", "voc", "yolo"))


def test_coco_photos_come_whole_and_go_whole(house: House, cocoval: Path, tmp_path: Path) -> None:
    result = house.bring(cocoval.parent / "cocoval.json")
    assert (result.images, result.boxes, result.problems) == (164, 1560, ())
    _same_again(house, tmp_path, ("coco", "voc", "yolo"))


def test_pycocotools_loads_a_coco_export(house: House, deeppcb: Path, tmp_path: Path) -> None:
    house.bring(deeppcb / "PCBData" / "test.txt")
    house.take(tmp_path / "out", "coco")
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = COCO(str(tmp_path / "out" / "annotations" / "instances_test.json"))
    assert len(loaded.getImgIds()) == 500
    names = [one["name"] for one in loaded.loadCats(loaded.getCatIds())]
    counts = [len(loaded.getAnnIds(catIds=[index])) for index in loaded.getCatIds()]
    assert dict(zip(names, counts, strict=True)) == house.per_class()


def test_ultralytics_accepts_a_yolo_export(house: House, photos: Path, tmp_path: Path) -> None:
    house.bring(photos / "coco")
    house.take(tmp_path / "out", "yolo")
    checked = subprocess.run(
        [sys.executable, "-c", ULTRALYTICS, str(tmp_path / "out" / "data.yaml")],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"YOLO_OFFLINE": "true", "YOLO_CONFIG_DIR": str(tmp_path / "yolo")},
    )
    assert checked.returncode == 0, checked.stderr
    found = json.loads(checked.stdout.splitlines()[-1])
    assert found["images"] == {"train": 128, "val": 70}
    assert {kind: count for kind, count in found["boxes"].items() if count} == house.per_class()


@pytest.mark.parametrize("name", ["hripcb", "photos", "cocoval", "facemask", "deeppcb"])
def test_an_archive_imports_as_it_was_downloaded(house: House, name: str) -> None:
    try:
        archive = real_data.root() / real_data.ARCHIVES[name]
    except real_data.Missing as missing:
        pytest.skip(str(missing))
    result = house.bring(archive)
    assert (result.images, result.boxes) == COUNTS[name]
    assert result.problems == ()
