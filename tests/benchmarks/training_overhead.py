"""What the platform costs over the same training by hand, A/B/B/A.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.training_overhead [--images 256 --epochs 4]

`yolo`: a job of a real worker, from the queue to the database, with all its processes, beside
Ultralytics' own trainer on the same files, settings and precision. `faster_rcnn`: the loop through
Ray Train with one process, Ray's own ones counted, beside the same loop without Ray. From the end
of the first epoch, which warms up, to that of the last one: seconds by the clock, and processor
seconds, which tell the same on a machine that does other things beside.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import psutil

from backend import settings
from backend.domain import FINAL, JobState, Split
from backend.jobs import journal
from backend.services import importing, projects
from backend.services import training as trainings
from backend.storage.files import Files
from tests import real_data
from tests.workers import real_boards, running
from workers.models import distributed, faster_rcnn, offline, training
from workers.models.base import Parameters, TrainingSet

MARKS = "marks"
# What our trainer would choose otherwise for few images.
LIKE_THEM = {"mosaic": 1.0, "scale": 0.5, "close_mosaic": 1}


@dataclass(frozen=True, slots=True)
class Cost:
    """What an epoch takes."""

    seconds: float
    processor: float


class Clock:
    """Leaves a mark for who measures at the end of each epoch."""

    def __init__(self, marks: Path) -> None:
        self.marks = marks

    def progress(self, fraction: float, message: str) -> None:
        """Not marked."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Marked."""
        del epochs, figures
        with self.marks.open("a") as file:
            file.write(f"{epoch}\n")

    def log(self, text: str) -> None:
        """Not marked."""


def ours(data: TrainingSet, parameters: Parameters, folder: Path) -> None:
    """A job of the queue, carried out by a worker of its own."""
    clock, described = Clock(folder / MARKS), _lay_out(data, folder / "set")
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
        told = 0
        while house.get(job.id).state not in FINAL:
            time.sleep(0.1)
            with house.database.read() as session:
                events = journal.read(session, job.id, told)
            for event in events:
                told = event.seq
                if "epoch" in event.data:
                    clock.epoch(event.data["epoch"], parameters.epochs, {})
        ended = house.get(job.id)
        assert ended.state is JobState.DONE, ended.error


def theirs(data: TrainingSet, parameters: Parameters, folder: Path) -> None:
    """Ultralytics by hand: files on the disk, its own trainer, nothing of ours."""
    offline.prepare()
    import torch
    from ultralytics.models.yolo.detect import DetectionTrainer

    described = _lay_out(data, folder / "set")
    clock = Clock(folder / MARKS)
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


def through_ray(data: TrainingSet, parameters: Parameters, folder: Path) -> None:
    """Ray Train with one process."""
    _taught(distributed._on_ray, data, parameters, folder)


def plain(data: TrainingSet, parameters: Parameters, folder: Path) -> None:
    """The same loop without Ray."""
    _taught(distributed.run, data, parameters, folder)


def _taught(
    run: Callable[..., Any], data: TrainingSet, parameters: Parameters, folder: Path
) -> None:
    clock = Clock(folder / MARKS)
    run(faster_rcnn._loop, training.Task(data, _features(), parameters, folder), clock)


CASES: Mapping[str, tuple[Callable[..., None], Callable[..., None]]] = {
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
    order: tuple[Callable[..., None], ...],
    data: TrainingSet,
    parameters: Parameters,
) -> None:
    costs: dict[Callable[..., None], list[Cost]] = {order[0]: [], order[1]: []}
    for run in order:
        cost = _measure(run, data, parameters)
        costs[run].append(cost)
        print(
            f"  {run.__name__}: {cost.seconds:.2f} s an epoch, {cost.processor:.2f} s of processor"
        )
    for what in ("seconds", "processor"):
        platform, by_hand = (min(getattr(one, what) for one in side) for side in costs.values())
        share = platform / by_hand - 1
        print(f"{name}, {what}: {platform:.2f} an epoch, by hand {by_hand:.2f}: {share:+.1%}")


def _measure(run: Callable[..., None], data: TrainingSet, parameters: Parameters) -> Cost:
    """In a process of its own, so that no run inherits anything of another."""
    seen: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder) / MARKS
        process = multiprocessing.get_context("spawn").Process(
            target=run, args=(data, parameters, Path(folder))
        )
        process.start()
        root = psutil.Process(process.pid)
        while process.is_alive():
            done = len(marks.read_text().split()) if marks.exists() else 0
            if len(seen) < min(done, parameters.epochs):
                seen.append((time.monotonic(), _used(root, with_root=run is not ours)))
            time.sleep(0.02)
        process.join()
        assert process.exitcode == 0
    epochs = len(seen) - 1
    return Cost(*((last - first) / epochs for first, last in zip(seen[0], seen[-1], strict=True)))


def _used(root: psutil.Process, with_root: bool) -> float:
    """The processor seconds of all descendants, those that have ended included."""
    total = 0.0
    for process in [root] * with_root + root.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


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
