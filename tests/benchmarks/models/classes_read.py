"""What the benchmarks of classifiers share: pictures as examples, and what a model says of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from backend.domain import Split
from workers.evaluation import classes as worth
from workers.families import classifier
from workers.families.base import Example, Picture, TrainingSet

AT_ONCE = 100


class Telling:
    """Says each epoch as it comes, with what the processor took and how busy the machine was."""

    def progress(self, fraction: float, message: str) -> None:
        """Not said."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """One line an epoch."""
        told = ", ".join(
            f"{name} {figures[name]:.3f}"
            for name in ("loss", "accuracy", "val_loss", "images_per_second")
        )
        used, load = time.process_time(), os.getloadavg()[0]
        self.log(f"epoch {epoch} of {epochs}: {told}; {used:.0f} s of processor, load {load:.1f}")

    def log(self, text: str) -> None:
        """A line."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def folders(root: Path, validated: int = 25) -> TrainingSet:
    """Class folders below train and test; each so-manieth training picture is for validation."""
    names = tuple(sorted(folder.name for folder in (root / "train").iterdir()))
    examples = []
    for part in ("train", "test"):
        for name in names:
            for number, path in enumerate(sorted((root / part / name).iterdir())):
                split = Split.TEST if part == "test" else Split.TRAIN
                if split is Split.TRAIN and number % validated == 0:
                    split = Split.VAL
                known = f"{part}/{name}/{path.name}"
                examples.append(Example(path, 32, 32, split, label=name, name=known))
    return TrainingSet(names, tuple(examples))


def judged(weights: Path, examples: Sequence[Example]) -> dict[str, Any]:
    """The figures of a model on pictures that it has not learned from."""
    model = classifier.load(weights, "cpu")
    truths = [model.classes.index(each.label) for each in examples]
    scores = np.zeros((len(examples), len(model.classes)))
    for begin in range(0, len(examples), AT_ONCE):
        part = examples[begin : begin + AT_ONCE]
        shown = [Picture(np.asarray(cv2.imread(str(each.path)), np.uint8)) for each in part]
        for place, rows in enumerate(model.predict(shown), begin):
            scores[place, rows[:, 5].astype(int)] = rows[:, 4]
    return worth.report(truths, scores, model.classes)
