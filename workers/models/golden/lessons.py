"""Reads the labelled pictures of a snapshot beside their goldens, one lesson each."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from backend.domain import Split
from backend.errors import Refused
from workers.models.base import Example, Picture, Pixels, Reporter, TrainingSet
from workers.models.golden import learning, seeing
from workers.models.golden.learning import Lesson
from workers.models.golden.settings import Settings


def read(snapshot: TrainingSet, settings: Settings, reporter: Reporter) -> list[Lesson]:
    """The lessons of the training split; a picture that does not fit its golden is told of."""
    examples, found, goldens = snapshot.of(Split.TRAIN), [], _Goldens()
    for number, example in enumerate(examples):
        try:
            found.append(_lesson(example, goldens, snapshot.classes, settings))
        except Refused as refusal:
            reporter.log(f"Left out: {refusal}")
        fraction = 0.9 * (number + 1) / len(examples)
        reporter.progress(fraction, f"Compared {number + 1} of {len(examples)} pictures.")
    if not any(len(lesson.rows) for lesson in found):
        raise Refused(
            f"None of the {len(examples)} training pictures differs from a golden that fits it,"
            " so there is nothing to learn from. Label pictures that have a golden, then retrain."
        )
    return found


def _lesson(
    example: Example, goldens: _Goldens, classes: tuple[str, ...], settings: Settings
) -> Lesson:
    name = example.name or example.path.name
    golden = goldens.of(example.golden) if example.golden else None
    seen = seeing.look(Picture(_pixels(example.path), golden, name), settings)
    truths = [[b.x1, b.y1, b.x2, b.y2, classes.index(b.label)] for b in example.boxes]
    labelled = np.array(truths, np.float64).reshape(-1, 5)
    return learning.lesson(seen, labelled, len(classes), example.group)


class _Goldens:
    """Keeps the last golden, as many pictures in a row share it."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._pixels: Pixels | None = None

    def of(self, path: Path) -> Pixels:
        """The pixels of a golden."""
        if self._pixels is None or path != self._path:
            self._path, self._pixels = path, _pixels(path)
        return self._pixels


def _pixels(path: Path) -> Pixels:
    decoded = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise Refused(f"{path.name} is not a picture that can be read.")
    return np.asarray(decoded, np.uint8)
