"""What a family reaches on DeepPCB or the face masks, and in which time; hours on a processor.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.training_sets --data deeppcb --epochs 40

DeepPCB is trained on trainval (a tenth of its boards held back for validation), the face masks on
their own lists; measured once on the test split with `workers.evaluation.metrics`. A run that was
stopped goes on from its folder.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

from backend import families
from backend.domain import Split
from tests import real_data
from tests.workers.families import real_boards, real_faces
from workers.evaluation import appraisal
from workers.families import base
from workers.families.base import Example, Parameters, TrainingSet

START = {
    "yolo": "yolo11n_recovered.pt",
    "faster_rcnn": "mobilenet_v2_imagenet_features.pth",
}


def deeppcb() -> tuple[TrainingSet, tuple[Example, ...]]:
    """What to learn from, and what to be judged by."""
    folder = real_data.unpacked("deeppcb")
    tests = real_boards.boards(folder, 500, "test", validate=0)
    return real_boards.boards(folder, 1000, validate=10), tests.of(Split.TRAIN)


def facemask() -> tuple[TrainingSet, tuple[Example, ...]]:
    """What to learn from, and what to be judged by."""
    data = real_faces.faces(real_data.unpacked("facemask"))
    return data, data.of(Split.TEST)


SETS = {"deeppcb": deeppcb, "facemask": facemask}


class Printing:
    """A reporter for a person who waits."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    def progress(self, fraction: float, message: str) -> None:
        """Said at the end of each epoch only."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """One line an epoch."""
        told = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"{time.monotonic() - self.began:8.0f} s  epoch {epoch} of {epochs}: {told}")

    def log(self, text: str) -> None:
        """As it comes."""
        print(text)


def main() -> None:
    """Train as the command line says and print the figures on the test split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=sorted(START), default="yolo")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--data", choices=sorted(SETS), default="deeppcb")
    parser.add_argument("--size", type=int, default=640)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("training_run"))
    given = parser.parse_args()
    data, tests = SETS[given.data]()
    defaults = families.find(given.family).defaults
    parameters = Parameters(
        given.epochs, given.size, int(defaults["batch"]), given.workers, given.seed,
        str(defaults["variant"]),
    )  # fmt: skip
    began = time.monotonic()
    trained = base.implementation(given.family).train(
        data, real_data.weights() / START[given.family], parameters, Printing(), given.folder
    )
    print(f"trained in {time.monotonic() - began:.0f} s: {dict(trained.figures)}")
    seen = appraisal.look(
        given.family, trained.weights, tests, data.classes, lambda *_: None, "cpu"
    )
    for iou in (0.33, 0.5):
        figures = appraisal.report(given.family, seen, data.classes, iou)
        low, high = figures["intervals"]["map"]
        print(f"test, {len(tests)} images: mAP@{iou} {figures['map']:.4f} ({low:.4f}–{high:.4f})")
    print(f"mAP@.5:.95 {figures['map50_95']:.4f}")
    for name, row in figures["per_class"].items():
        rates = f"precision {row['precision']:.3f}, recall {row['recall']:.3f}"
        print(f"{name:10} AP@.5 {row['ap50']:.4f}, {rates}")


if __name__ == "__main__":
    main()
