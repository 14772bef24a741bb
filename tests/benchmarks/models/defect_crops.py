"""How well the defects of DeepPCB are told apart from their crops alone, split by board.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.defect_crops [--size 40 --epochs 5]

The boxes of trainval teach (every twelfth board validates), those of the test split judge. A crop
shows the tested board alone, without its template, which the golden board's rules look at too.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from backend.domain import Box, Split
from backend.labels.cropping import cutting
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.models import classes_read
from tests.benchmarks.results import Figure
from workers.families import classifier
from workers.families.base import Example, Parameters, TrainingSet

KINDS = ("open", "short", "mousebite", "spur", "copper", "pin-hole")
MARGIN, SIDE, VALIDATED = 0.2, 640, 12


def main() -> None:
    """Cut, train, judge."""
    asked = _asked()
    told = classes_read.Telling()
    data = TrainingSet(KINDS, tuple(_examples(asked.folder / "crops")))
    given = Parameters(
        epochs=asked.epochs,
        image_size=asked.size,
        batch=64,
        variant="small",
        patience=0,
        extra={"upside_down": 0.5},
    )
    used = time.process_time()
    trained = classifier.train(data, None, given, told, asked.folder / "training")
    processor = time.process_time() - used
    found = classes_read.judged(trained.weights, data.of(Split.TEST))
    low, high = found["interval"]
    rows = [
        Figure("accuracy, test split", found["accuracy"], "", f"95 % {low:.4f} to {high:.4f}"),
        *(Figure(f"F1, {name}", one["f1"], "") for name, one in found["per_class"].items()),
        Figure("processor", processor, "s", f"load {os.getloadavg()[1]:.0f}"),
    ]
    for row in rows:
        told.log(f"{row.what}: {row.value:.4g} {row.unit} {row.spread}")
    if asked.keep:
        how = f"{asked.epochs} epochs at {asked.size} pixels, {results.machine()}"
        kept = [Figure(row.what, row.value, row.unit, row.spread, how=how) for row in rows]
        results.keep("defect_crops", kept)


def _examples(folder: Path) -> Iterator[Example]:
    """A crop a box; those of one board are in one split."""
    folder.mkdir(parents=True, exist_ok=True)
    root = next(real_data.unpacked("deeppcb").rglob("PCBData"))
    for part in ("trainval", "test"):
        (listed,) = root.parent.rglob(f"{part}.txt")
        for number, line in enumerate(listed.read_text().splitlines()):
            split = Split.VAL if number % VALIDATED == 0 else Split.TRAIN
            picture, boxes = (root / name for name in line.split())
            board = picture.with_name(f"{picture.stem}_test.jpg")
            yield from _of_board(folder, board, boxes, Split.TEST if part == "test" else split)


def _of_board(folder: Path, board: Path, boxes: Path, split: Split) -> Iterator[Example]:
    pixels = np.asarray(cv2.imread(str(board)), np.uint8)
    for number, line in enumerate(boxes.read_text().splitlines()):
        x1, y1, x2, y2, kind = map(int, line.split())
        where = cutting.window(Box(x1, y1, x2, y2, ""), SIDE, SIDE, MARGIN)
        path = folder / f"{board.stem}_{number}.png"
        if not path.exists():
            cv2.imwrite(str(path), cutting.cut(pixels, where))
        width, height = where[2] - where[0], where[3] - where[1]
        yield Example(path, width, height, split, label=KINDS[kind - 1], name=path.name)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    asked.folder = asked.folder or Path(tempfile.mkdtemp(prefix="loupe-crops-"))
    return asked


if __name__ == "__main__":
    main()
