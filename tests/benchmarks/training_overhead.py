"""What the platform costs over the same training by hand: seconds an epoch, A/B/A/B.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.training_overhead [--images 64 --epochs 3]

`yolo`: our trainer beside Ultralytics' own on the same files, settings and precision.
`faster_rcnn`: the loop through Ray Train with one process beside the same loop without Ray; timed
between the reports of epochs, so that Ray's start, which is printed apart, does not count.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2

from backend.domain import Split
from tests import real_data
from tests.workers import real_boards
from workers.models import distributed, faster_rcnn, offline, training, yolo
from workers.models.base import Parameters, TrainingSet


class Clock:
    """Notes when each epoch was told."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.marks: list[float] = []

    def progress(self, fraction: float, message: str) -> None:
        """Not noted."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Noted."""
        del epoch, epochs, figures
        self.marks.append(time.monotonic())

    def log(self, text: str) -> None:
        """Not noted."""

    @property
    def seconds(self) -> float:
        """Median length of the epochs after the first, which warms up."""
        pairs = zip(self.marks, self.marks[1:], strict=False)
        return statistics.median(after - before for before, after in pairs)


def ours(data: TrainingSet, parameters: Parameters, folder: Path) -> float:
    """Our trainer."""
    clock = Clock()
    yolo.train(data, real_data.weights() / "yolo11n_recovered.pt", parameters, clock, folder)
    return clock.seconds


def theirs(data: TrainingSet, parameters: Parameters, folder: Path) -> float:
    """Ultralytics by hand: files on the disk, its own trainer, nothing of ours."""
    offline.prepare()
    import torch
    from ultralytics.models.yolo.detect import DetectionTrainer

    described = _lay_out(data, folder / "set")
    clock = Clock()
    trainer = DetectionTrainer(
        overrides={
            "model": str(real_data.weights() / "yolo11n_recovered.pt"), "data": str(described),
            "epochs": parameters.epochs, "imgsz": parameters.image_size,
            "batch": parameters.batch, "nbs": parameters.batch, "seed": parameters.seed,
            "amp": False, "plots": False, "verbose": False, "device": "cpu",
            "deterministic": False, "save_dir": str(folder / "run"), "exist_ok": True,
            "close_mosaic": max(1, parameters.epochs // 4),
            "warmup_epochs": min(3.0, parameters.epochs / 10),
        }
    )  # fmt: skip
    trainer.add_callback("on_train_start", lambda _: torch.set_num_threads(training.threads()))
    trainer.add_callback("on_fit_epoch_end", lambda t: clock.epoch(t.epoch, t.epochs, {}))
    trainer.train()
    # The last mark is that of the final evaluation, which is no epoch.
    clock.marks.pop()
    return clock.seconds


def through_ray(data: TrainingSet, parameters: Parameters, folder: Path) -> tuple[float, float]:
    """Ray Train with one process: seconds an epoch, and seconds until the first one is done."""
    clock = Clock()
    task = training.Task(data, _features(), parameters, folder)
    distributed._on_ray(faster_rcnn._loop, task, clock)
    return clock.seconds, clock.marks[0] - clock.began


def plain(data: TrainingSet, parameters: Parameters, folder: Path) -> tuple[float, float]:
    """The same loop without Ray."""
    clock = Clock()
    task = training.Task(data, _features(), parameters, folder)
    distributed.run(faster_rcnn._loop, task, clock)
    return clock.seconds, clock.marks[0] - clock.began


def main() -> None:
    """Print both ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--size", type=int, default=320)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("yolo", "faster_rcnn"))
    given = parser.parse_args()
    data = real_boards.boards(real_data.unpacked("deeppcb"), given.images)
    parameters = Parameters(given.epochs, given.size, 8, patience=0, extra={"half": False})
    cases: dict[str, tuple[Any, Any]] = {
        "yolo": (ours, theirs),
        "faster_rcnn": (through_ray, plain),
    }
    for name, pair in cases.items():
        if given.only in (None, name):
            _compare(name, pair, data, parameters, given.rounds)


def _compare(
    name: str, pair: tuple[Any, Any], data: TrainingSet, parameters: Parameters, rounds: int
) -> None:
    measured: list[list[Any]] = [[], []]
    for _ in range(rounds):
        for place, run in enumerate(pair):
            folder = Path(tempfile.mkdtemp())
            measured[place].append(run(data, parameters, folder))
            shutil.rmtree(folder)
    epochs = [[m if isinstance(m, float) else m[0] for m in side] for side in measured]
    platform, by_hand = (min(side) for side in epochs)
    print(
        f"{name}: {platform:.2f} s an epoch, by hand {by_hand:.2f} s: {platform / by_hand - 1:+.1%}"
    )
    print(f"  all rounds: {measured}")


def _features() -> Path:
    return real_data.weights() / "mobilenet_v2_imagenet_features.pth"


def _lay_out(data: TrainingSet, folder: Path) -> Path:
    """The set as Ultralytics wants it on the disk."""
    for example in data.examples:
        split = "train" if example.split == Split.TRAIN else "val"
        image = folder / "images" / split / f"{example.path.stem}.png"
        label = folder / "labels" / split / f"{example.path.stem}.txt"
        for path in (image, label):
            path.parent.mkdir(parents=True, exist_ok=True)
        pixels = cv2.imread(str(example.path))
        assert pixels is not None
        cv2.imwrite(str(image), pixels)
        size = (example.width, example.height)
        label.write_text("\n".join(_line(box, data.classes, size) for box in example.boxes))
    described = folder / "data.yaml"
    names = "\n".join(f"  {index}: {name}" for index, name in enumerate(data.classes))
    described.write_text(f"path: {folder}\ntrain: images/train\nval: images/val\nnames:\n{names}\n")
    return described


def _line(box: Any, classes: tuple[str, ...], size: tuple[int, int]) -> str:
    width, height = size
    x, y = (box.x1 + box.x2) / 2 / width, (box.y1 + box.y2) / 2 / height
    w, h = (box.x2 - box.x1) / width, (box.y2 - box.y1) / height
    return f"{classes.index(box.label)} {x} {y} {w} {h}"


if __name__ == "__main__":
    main()
