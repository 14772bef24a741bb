"""Forty boards of DeepPCB as training sets, for detectors and for classifiers."""

from __future__ import annotations

from pathlib import Path

import cv2

from backend.domain import Box, Split
from workers.families.base import Example, TrainingSet

CLASSES = ("open", "short", "mousebite", "spur", "copper", "pin-hole")
MARGIN = 12


def boards(
    folder: Path, images: int = 40, part: str = "trainval", validate: int = 5
) -> TrainingSet:
    """Boards from all over a list, every fifth (`validate`) of them for validation."""
    lines = (folder / "PCBData" / f"{part}.txt").read_text().split("\n")
    step = max(1, len(lines) // images)
    chosen = [line.split() for line in lines[::step] if line][:images]
    examples = [
        _board(folder / "PCBData", image, labels, _split(number, validate))
        for number, (image, labels) in enumerate(chosen)
    ]
    return TrainingSet(CLASSES, tuple(examples))


def defects(folder: Path, into: Path, images: int = 40) -> TrainingSet:
    """The defects of those boards, cut out: one picture a defect."""
    into.mkdir(parents=True, exist_ok=True)
    examples = []
    for board in boards(folder, images).examples:
        pixels = cv2.imread(str(board.path))
        assert pixels is not None
        for number, box in enumerate(board.boxes):
            x, y = max(0, int(box.x1) - MARGIN), max(0, int(box.y1) - MARGIN)
            cut = pixels[y : int(box.y2) + MARGIN, x : int(box.x2) + MARGIN]
            path = into / f"{board.path.stem}-{number}.png"
            cv2.imwrite(str(path), cut)
            height, width = cut.shape[:2]
            examples.append(
                Example(path, width, height, board.split, label=box.label, name=path.name)
            )
    return TrainingSet(CLASSES, tuple(examples))


def _split(number: int, validate: int) -> Split:
    return Split.VAL if validate and number % validate == validate - 1 else Split.TRAIN


def _board(folder: Path, image: str, labels: str, split: Split) -> Example:
    path = folder / image.replace(".jpg", "_test.jpg")
    rows = [line.split() for line in (folder / labels).read_text().splitlines() if line]
    boxes = tuple(
        Box(float(x1), float(y1), float(x2), float(y2), CLASSES[int(kind) - 1])
        for x1, y1, x2, y2, kind in rows
    )
    return Example(path, 640, 640, split, boxes, name=path.name)
