# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["datasets>=5.2,<6", "datumaro>=1.13,<2", "supervision>=0.31,<0.32"]
# ///
"""Opens our exports with what other people open them with; prints what each of them found.

It runs in an environment of its own (uv run --script): datumaro wants an older pyarrow than we
have, and opencv-python-headless, which owns the folder of our opencv-python.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import datasets
import datumaro
import supervision

Found = dict[str, list[list[Any]]]


def opened_by_datumaro(export: Path, kind: str) -> Found:
    """Pictures by what datumaro calls them, with corners and class of each box."""
    whole = datumaro.Dataset.import_from(str(export), kind)
    classes = whole.categories()[datumaro.AnnotationType.label]
    return {
        item.id: sorted([*one.points, classes[one.label].name] for one in item.annotations)
        for item in whole
    }


def opened_by_supervision(loaded: Any) -> Found:
    """Pictures by their files' names, with corners and class of each box."""
    return {
        PurePosixPath(path).stem: sorted(
            [*corners, loaded.classes[kind]]
            for corners, kind in zip(found.xyxy.tolist(), found.class_id.tolist(), strict=True)
        )
        for path, _, found in loaded
    }


def coco(export: Path) -> Iterator[tuple[str, Found]]:
    yield "datumaro", opened_by_datumaro(export, "coco_instances")
    found: Found = {}
    for file in sorted(export.glob("annotations/*.json")):
        opened = supervision.DetectionDataset.from_coco(str(export / "images"), str(file))
        found |= opened_by_supervision(opened)
    yield "supervision", found


def voc(export: Path) -> Iterator[tuple[str, Found]]:
    yield "datumaro", opened_by_datumaro(export, "voc_detection")
    folders = str(export / "JPEGImages"), str(export / "Annotations")
    yield (
        "supervision",
        opened_by_supervision(supervision.DetectionDataset.from_pascal_voc(*folders)),
    )


def yolo(export: Path) -> Iterator[tuple[str, Found]]:
    yield "datumaro", opened_by_datumaro(export, "yolo")
    found: Found = {}
    for home in sorted((export / "images").iterdir()):
        folders = str(home), str(export / "labels" / home.name), str(export / "data.yaml")
        found |= opened_by_supervision(supervision.DetectionDataset.from_yolo(*folders))
    yield "supervision", found


def folders(export: Path) -> Iterator[tuple[str, Found]]:
    """The class of each picture as a box without corners."""
    home = export if (export / "train").is_dir() else export / "unassigned"
    cache = str(export.with_name(f"{export.name}-cache"))
    whole = datasets.load_dataset("imagefolder", data_dir=str(home), cache_dir=cache)
    found: Found = {}
    for split in whole.values():
        kinds = getattr(split.features.get("label"), "names", [])
        for row in split.cast_column("image", datasets.Image(decode=False)):
            stem = PurePosixPath(row["image"]["path"]).stem
            found[stem] = [[kinds[row["label"]]]] if kinds else []
    yield "datasets", found


OPEN: dict[str, Callable[[Path], Iterator[tuple[str, Found]]]] = {
    "coco": coco,
    "voc": voc,
    "yolo": yolo,
    "folders": folders,
}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    datasets.disable_progress_bars()
    answer = {}
    for place in sys.argv[1:]:
        name = Path(place).name
        for loader, pictures in OPEN[name.partition("-")[0]](Path(place)):
            answer[f"{name} {loader}"] = pictures
    sys.stdout.write(json.dumps(answer))
