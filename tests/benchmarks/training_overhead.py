"""What the platform costs over the same training by hand: seconds an epoch, A/B/B/A.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.training_overhead [--images 256 --epochs 4]

`yolo`: a job of a real worker, from the queue to the database, beside Ultralytics' own trainer on
the same files, settings and precision. `faster_rcnn`: the loop through Ray Train with one process
beside the same loop without Ray. Timed between the reports of epochs, so that the start (of the
worker, of Ray), which is printed apart, does not count, nor does the first epoch, which warms up.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent import futures
from pathlib import Path
from typing import Any

import cv2

from backend import settings
from backend.domain import JobState, Split
from backend.jobs import journal
from backend.services import importing, projects
from backend.services import training as trainings
from backend.storage.files import Files
from tests import real_data
from tests.workers import real_boards, running
from workers.models import distributed, faster_rcnn, offline, training
from workers.models.base import Parameters, TrainingSet

Epochs = list[float]
# What our trainer would choose otherwise for few images.
LIKE_THEM = {"mosaic": 1.0, "scale": 0.5, "close_mosaic": 1}


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

    def told(self) -> Epochs:
        """The seconds until the first epoch was done, then those of each further one."""
        return _between([self.began, *self.marks])


def ours(data: TrainingSet, parameters: Parameters, folder: Path) -> Epochs:
    """A job of the queue, carried out by a worker of its own."""
    described = _lay_out(data, folder / "set")
    home = folder / "home"
    home.mkdir()
    with running.house(home) as house:
        house.start_worker()
        given = settings.Settings(home=home)
        files = Files(given.files_root, given.cache)
        importing.run(importing.Into(house.database, files, "boards", ""), described.parent, given)
        values = {
            "epochs": parameters.epochs, "image_size": parameters.image_size,
            "batch": parameters.batch, "patience": 0, "extra": dict(parameters.extra),
        }  # fmt: skip
        with house.database.write.begin() as session:
            project = projects.find(session, "boards")
            job = trainings.retrain(
                session, project.id, "yolo", start=str(_yolo()), parameters=values, seed=0
            ).job
        ended = house.until_ended(job.id, 3600.0)
        assert ended.state is JobState.DONE, ended.error
        with house.database.read() as session:
            events = journal.read(session, job.id)
        assert ended.started is not None
        told = [event.at for event in events if "epoch" in event.data]
        return _between([at.timestamp() for at in (ended.started, *told)])


def theirs(data: TrainingSet, parameters: Parameters, folder: Path) -> Epochs:
    """Ultralytics by hand: files on the disk, its own trainer, nothing of ours."""
    offline.prepare()
    import torch
    from ultralytics.models.yolo.detect import DetectionTrainer

    described = _lay_out(data, folder / "set")
    clock = Clock()
    trainer = DetectionTrainer(
        overrides={
            "model": str(_yolo()), "data": str(described), "device": "cpu", "amp": False,
            "epochs": parameters.epochs, "imgsz": parameters.image_size, "seed": 0,
            "batch": parameters.batch, "nbs": parameters.batch, "patience": 0, "workers": 4,
            "plots": False, "verbose": False, "deterministic": False,
            "save_dir": str(folder / "run"), "exist_ok": True,
            "warmup_epochs": min(3.0, parameters.epochs / 10), **LIKE_THEM,
        }
    )  # fmt: skip
    trainer.add_callback("on_train_start", lambda _: torch.set_num_threads(training.threads()))
    trainer.add_callback("on_fit_epoch_end", lambda t: clock.epoch(t.epoch, t.epochs, {}))
    trainer.train()
    # The last mark is that of the final evaluation, which is no epoch.
    clock.marks.pop()
    return clock.told()


def through_ray(data: TrainingSet, parameters: Parameters, folder: Path) -> Epochs:
    """Ray Train with one process."""
    return _taught(distributed._on_ray, data, parameters, folder)


def plain(data: TrainingSet, parameters: Parameters, folder: Path) -> Epochs:
    """The same loop without Ray."""
    return _taught(distributed.run, data, parameters, folder)


def _taught(
    run: Callable[..., Any], data: TrainingSet, parameters: Parameters, folder: Path
) -> Epochs:
    clock = Clock()
    run(faster_rcnn._loop, training.Task(data, _features(), parameters, folder), clock)
    return clock.told()


CASES: Mapping[str, tuple[Callable[..., Epochs], Callable[..., Epochs]]] = {
    "yolo": (ours, theirs),
    "faster_rcnn": (through_ray, plain),
}


def main() -> None:
    """Print both ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--size", type=int, default=320)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", choices=tuple(CASES))
    given = parser.parse_args()
    data = real_boards.boards(real_data.unpacked("deeppcb"), given.images)
    extra = {"half": False, **LIKE_THEM}
    parameters = Parameters(given.epochs, given.size, 16, patience=0, extra=extra)
    for name, (platform, by_hand) in CASES.items():
        if given.only in (None, name):
            order = (platform, by_hand, by_hand, platform)
            _compare(name, order * given.rounds, data, parameters)


def _compare(
    name: str,
    order: tuple[Callable[..., Epochs], ...],
    data: TrainingSet,
    parameters: Parameters,
) -> None:
    """Each run in a process of its own, so that none inherits anything of another."""
    told: dict[Callable[..., Epochs], list[Epochs]] = {order[0]: [], order[1]: []}
    for run in order:
        with (
            tempfile.TemporaryDirectory() as folder,
            futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool,
        ):
            told[run].append(pool.submit(run, data, parameters, Path(folder)).result())
        rounded = [round(seconds, 2) for seconds in told[run][-1]]
        print(f"  {run.__name__}: first epoch after {rounded[0]} s, then {rounded[1:]}", flush=True)
    for what, of in (("median", statistics.median), ("best", min)):
        platform, by_hand = (of([s for run in runs for s in run[1:]]) for runs in told.values())
        share = platform / by_hand - 1
        print(f"{name}, {what} epoch: {platform:.2f} s, by hand {by_hand:.2f} s: {share:+.1%}")


def _between(marks: list[float]) -> Epochs:
    return [after - before for before, after in itertools.pairwise(marks)]


def _yolo() -> Path:
    return real_data.weights() / "yolo11n_recovered.pt"


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
