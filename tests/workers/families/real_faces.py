"""The face masks as training sets, by their own split lists."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from backend.domain import Box, Split
from workers.families.base import Example, TrainingSet

CLASSES = ("with_mask", "without_mask", "mask_weared_incorrect")


def faces(folder: Path) -> TrainingSet:
    """All 853 pictures."""
    examples = [
        _face(folder, stem, split)
        for split in Split
        for stem in (folder / f"split_{split}.txt").read_text().split()
    ]
    return TrainingSet(CLASSES, tuple(examples))


def _face(folder: Path, stem: str, split: Split) -> Example:
    root = ElementTree.parse(folder / "annotations" / f"{stem}.xml").getroot()
    path = folder / "images_jpg" / f"{stem}.jpg"
    width, height = (int(_text(root, f"size/{side}")) for side in ("width", "height"))
    boxes = []
    for one in root.iter("object"):
        x1, y1, x2, y2 = (
            float(_text(one, f"bndbox/{side}")) for side in ("xmin", "ymin", "xmax", "ymax")
        )
        boxes.append(Box(x1, y1, min(x2, width), min(y2, height), _text(one, "name")))
    return Example(path, width, height, split, tuple(boxes), name=path.name)


def _text(element: ElementTree.Element, path: str) -> str:
    found = element.findtext(path)
    assert found is not None
    return found
