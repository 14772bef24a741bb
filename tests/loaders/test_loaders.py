"""Each export opens in what other people use for its format, with the same pictures and boxes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from pycocotools.coco import COCO

from backend.domain import Split
from backend.formats import format_table
from backend.formats.base import OutgoingPicture
from tests.backend.labels import drawn

CLASSES = ("scratch", "déchirure & pli", "open")
BOXES = (
    ((1, 2, 30, 40, "scratch"), (0.25, 3.5, 64, 48, "open")),
    ((5, 6, 7.75, 8, "déchirure & pli"),),
    (),
)
SPLITS = (Split.TRAIN, Split.VAL, Split.TRAIN, Split.TEST)
FORMATS = ("coco", "voc", "yolo", "folders")
PEERS = {
    "coco": ("datumaro", "supervision"),
    "voc": ("datumaro", "supervision"),
    "yolo": ("datumaro", "supervision"),
    "folders": ("datasets",),
}
KINDS = ("split", "whole")
CORNERS = ("xmin", "ymin", "xmax", "ymax")
SECONDS = 300
Found = dict[str, list[list[Any]]]


def _pictures(name: str, *, split: bool) -> list[OutgoingPicture]:
    """Twelve photos of three lots with a golden each, as DeepPCB's boards lie in folders."""
    golden = drawn.written("lot 0/clean.jpg", is_golden=True, labelled=False, shade=200)
    boards = [
        drawn.written(
            f"lot {at % 3}/board {at}.jpg",
            *(() if name == "folders" else BOXES[at % 3]),
            label=CLASSES[at % 2] if name == "folders" else "",
            split=SPLITS[at // 3] if split else None,
            golden=golden,
            group=f"lot {at % 3}",
            shade=at,
        )
        for at in range(12)
    ]
    return [golden, *boards]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each format, with splits and without."""
    home = tmp_path_factory.mktemp("exports")
    for name in FORMATS:
        for kind in KINDS:
            out = home / f"{name}-{kind}"
            out.mkdir()
            pictures = _pictures(name, split=kind == "split")
            assert len(list(format_table.find(name).write(pictures, out, CLASSES))) == 13
    return home


@pytest.fixture(scope="module")
def opened(exports: Path) -> dict[str, Found]:
    """What the peers make of them, in an environment of their own."""
    script = Path(__file__).with_name("peers.py")
    environment = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
    environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(exports / "home")}

    def uv(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [shutil.which("uv") or "uv", *arguments]
        return subprocess.run(command, env=environment, timeout=SECONDS, capture_output=True)

    if shutil.which("uv") is None or uv("sync", "--script", str(script)).returncode:
        pytest.skip("the environment of other loaders needs uv, and a network the first time")
    places = [str(exports / f"{name}-{kind}") for name in FORMATS for kind in KINDS]
    ran = uv("run", "-q", "--script", str(script), *places)
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    answer: dict[str, Found] = json.loads(ran.stdout)
    return answer


def _numbered(found: Found) -> dict[int, list[list[Any]]]:
    """What was found by the number in the picture's name, which formats write differently."""
    return {
        int(re.sub(r"\D", "", PurePosixPath(name).stem[-2:])): boxes
        for name, boxes in found.items()
    }


def _wanted(name: str, peer: str) -> dict[int, list[list[Any]]]:
    if name == "folders":
        return {at: [[CLASSES[at % 2]]] for at in range(12)}
    # supervision takes VOC's corners as counted from 1, as the challenge did; others and we do not.
    shift = 1 if (name, peer) == ("voc", "supervision") else 0
    return {
        at: sorted(
            [x1 - shift, y1 - shift, x2, y2, label] for x1, y1, x2, y2, label in BOXES[at % 3]
        )
        for at in range(12)
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "peer"), [(n, peer) for n in PEERS for peer in PEERS[n]])
def test_a_peer_opens_an_export(opened: dict[str, Found], name: str, peer: str, kind: str) -> None:
    assert _numbered(opened[f"{name}-{kind} {peer}"]) == _wanted(name, peer)


@pytest.mark.parametrize("kind", KINDS)
def test_pycocotools_and_torchvision_open_coco(exports: Path, kind: str) -> None:
    from torchvision.datasets import CocoDetection

    found: Found = {}
    for file in sorted(exports.glob(f"coco-{kind}/annotations/*.json")):
        whole = COCO(str(file))
        loaded = CocoDetection(str(exports / f"coco-{kind}/images"), str(file))
        for at, number in enumerate(loaded.ids):
            picture, notes = loaded[at]
            assert picture.size == (64, 48)
            corners = [[x, y, x + w, y + h] for x, y, w, h in (note["bbox"] for note in notes)]
            labels = [whole.cats[note["category_id"]]["name"] for note in notes]
            name = whole.imgs[number]["file_name"]
            found[name] = sorted([*box, label] for box, label in zip(corners, labels, strict=True))
    assert _numbered(found) == _wanted("coco", "torchvision")


@pytest.mark.parametrize("kind", KINDS)
def test_torchvision_opens_voc(exports: Path, tmp_path: Path, kind: str) -> None:
    from torchvision.datasets import VOCDetection

    (tmp_path / "VOCdevkit").mkdir()
    (tmp_path / "VOCdevkit/VOC2007").symlink_to(exports / f"voc-{kind}")
    found: Found = {}
    for split in ("train", "val", "test") if kind == "split" else ("trainval",):
        for _, told in VOCDetection(str(tmp_path), "2007", split):
            boxes = told["annotation"].get("object", [])
            found[told["annotation"]["filename"]] = sorted(
                [*(float(box["bndbox"][name]) for name in CORNERS), box["name"]] for box in boxes
            )
    assert _numbered(found) == _wanted("voc", "torchvision")


def test_torchvision_opens_class_folders(exports: Path) -> None:
    from torchvision.datasets import ImageFolder

    found: Found = {}
    for split in ("train", "val", "test"):
        loaded = ImageFolder(str(exports / "folders-split" / split))
        found |= {path: [[loaded.classes[kind]]] for path, kind in loaded.samples}
    assert _numbered(found) == _wanted("folders", "torchvision")


# A process of its own, because ultralytics changes much for the one that imports it.
ULTRALYTICS = """
import json, sys
from ultralytics.data.dataset import YOLODataset
from ultralytics.data.utils import check_det_dataset
answer = {}
for place in sys.argv[1:]:
    data, found = check_det_dataset(place, autodownload=False), answer.setdefault(place, {})
    for split in ("train", "val", "test") if data.get("test") else ("train",):
        for one in YOLODataset(img_path=data[split], data=data, augment=False).labels:
            height, width = one["shape"]
            boxes = zip(one["bboxes"].tolist(), one["cls"].ravel().tolist())
            found[one["im_file"]] = sorted(
                [round((x - w / 2) * width, 3), round((y - h / 2) * height, 3),
                 round((x + w / 2) * width, 3), round((y + h / 2) * height, 3),
                 data["names"][int(kind)]] for (x, y, w, h), kind in boxes)
print(json.dumps(answer))
"""


def test_ultralytics_opens_yolo(exports: Path, tmp_path: Path) -> None:
    (tmp_path / "Ultralytics").mkdir()  # where it would download a font, were there none
    for font in ("Arial.ttf", "Arial.Unicode.ttf"):
        (tmp_path / "Ultralytics" / font).touch()
    places = {kind: str(exports / f"yolo-{kind}" / "data.yaml") for kind in KINDS}
    environment = {**os.environ, "YOLO_CONFIG_DIR": str(tmp_path), "YOLO_OFFLINE": "1"}
    command = [sys.executable, "-c", ULTRALYTICS, *places.values()]
    ran = subprocess.run(
        command, env=environment, capture_output=True, timeout=SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    found: dict[str, Found] = json.loads(ran.stdout.splitlines()[-1])
    for place in places.values():
        assert _numbered(found[place]) == _wanted("yolo", "ultralytics")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORMATS)
def test_what_peers_open_is_still_read_back_whole(exports: Path, name: str, kind: str) -> None:
    found, problems = drawn.read_back(exports / f"{name}-{kind}")
    assert problems == []
    for picture in _pictures(name, split=kind == "split"):
        item = found[picture.name]
        assert drawn.corners(item.boxes) == drawn.corners(picture.boxes)
        assert (item.label, item.split, item.group, item.golden, item.is_golden) == (
            picture.label, picture.split, picture.group, picture.golden, picture.is_golden,
        )  # fmt: skip
