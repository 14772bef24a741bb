"""What the platform costs over the same training by hand; both take turns of three seconds.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.training_overhead [--images 256 --epochs 12]

`yolo`: a job of a real worker, from the queue to the database, with all its processes, beside
Ultralytics' own trainer on the same files, settings, warm-up, precision and memory layout.
`faster_rcnn`: the loop through Ray Train with one process, Ray's own ones counted, beside the same
loop without Ray. `turns` beside it says how; the first epoch warms up and is not counted.
Given are the means of an epoch and how far the figure moves when epochs are drawn anew (95 %):
processor seconds of all processes, of those that train, and the clock's. What does not train,
watches; that costs the same each second, so it is told apart: beside other work an epoch lasts
longer.
"""

from __future__ import annotations

import argparse
import functools
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from backend import settings
from backend.domain import FINAL, JobState, Split
from backend.jobs import journal
from backend.labels import imports
from backend.models import trainings
from backend.projects import catalogue
from backend.storage.files import Files
from tests import real_data
from tests.benchmarks.models import turns
from tests.benchmarks.models.turns import Side
from tests.workers import running
from tests.workers.families import real_boards
from workers import offline
from workers.families import faster_rcnn
from workers.families.base import Parameters, TrainingSet
from workers.training import basics, distributed

TRAINS = {"ours": "workers.runner", "through_ray": "RayTrainWorker"}
# What our trainer would choose otherwise for few images.
LIKE_THEM = {"mosaic": 1.0, "scale": 0.5, "close_mosaic": 1}


class Clock:
    """Leaves a mark for who measures at the end of each epoch."""

    def __init__(self, folder: Path) -> None:
        self.marks = folder / "marks"

    def progress(self, fraction: float, message: str) -> None:
        """Not marked."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Marked."""
        del epoch, epochs, figures
        self.mark(time.time())

    def mark(self, at: float) -> None:
        """An epoch ended at this moment."""
        with self.marks.open("a") as file:
            file.write(f"{at}\n")

    def log(self, text: str) -> None:
        """Not marked."""


def ours(data: TrainingSet, parameters: Parameters, folder: Path) -> None:
    """A job of the queue, carried out by a worker of its own."""
    clock, described = Clock(folder), _lay_out(data, folder / "set")
    home = folder / "home"
    home.mkdir()
    with running.house(home) as house:
        house.start_worker()
        given = settings.Settings(home=home)
        files = Files(given.files_root, given.cache)
        imports.run(imports.Into(house.database, files, "boards", ""), described.parent, given)
        values = {
            "epochs": parameters.epochs, "image_size": parameters.image_size,
            "batch": parameters.batch, "patience": 0, "extra": dict(parameters.extra),
        }  # fmt: skip
        with house.database.write.begin() as session:
            project = catalogue.find(session, "boards")
            job = trainings.retrain(
                session, project.id, "yolo", start=str(_yolo()), parameters=values, seed=0
            ).job
        told = 0
        while house.get(job.id).state not in FINAL:
            time.sleep(0.3)
            with house.database.read() as session:
                events = journal.read(session, job.id, told)
            for event in events:
                told = event.seq
                if "epoch" in event.data:
                    clock.mark(event.at.timestamp())
        ended = house.get(job.id)
        assert ended.state is JobState.DONE, ended.error


def theirs(data: TrainingSet, parameters: Parameters, folder: Path) -> None:
    """Ultralytics by hand: files on the disk, its own trainer, nothing of ours."""
    offline.prepare()
    from ultralytics.models.yolo.detect import DetectionTrainer

    described = _lay_out(data, folder / "set")
    clock = Clock(folder)
    trainer = DetectionTrainer(
        overrides={
            "model": str(_yolo()), "data": str(described), "device": "cpu", "amp": False,
            "epochs": parameters.epochs, "imgsz": parameters.image_size, "seed": 0,
            "batch": parameters.batch, "nbs": parameters.batch, "patience": 0, "workers": 4,
            "plots": False, "verbose": False, "deterministic": False,
            "save_dir": str(folder / "run"), "exist_ok": True,
            "warmup_epochs": min(3.0, parameters.epochs / 10), "warmup_bias_lr": 0.0, **LIKE_THEM,
        }
    )  # fmt: skip
    trainer.add_callback("on_train_start", _as_we_do)
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
    clock = Clock(folder)
    run(faster_rcnn._loop, basics.TrainingTask(data, _features(), parameters, folder), clock)


def _as_we_do(trainer: Any) -> None:
    """All cores, and the memory layout that is the quicker one."""
    import torch

    torch.set_num_threads(basics.threads())
    trainer.model.to(memory_format=torch.channels_last)


Program = Callable[[TrainingSet, Parameters, Path], None]
CASES: Mapping[str, tuple[Program, Program]] = {
    "yolo": (ours, theirs),
    "faster_rcnn": (through_ray, plain),
}


def main() -> None:
    """Print both ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--size", type=int, default=320)
    parser.add_argument("--only", choices=tuple(CASES))
    given = parser.parse_args()
    # Threads that wait for each other would burn the processor seconds that are measured.
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    data = real_boards.boards(real_data.unpacked("deeppcb"), given.images)
    extra = {"half": False, **LIKE_THEM}
    parameters = Parameters(given.epochs, given.size, 16, patience=0, extra=extra)
    for name in [given.only] if given.only else CASES:
        _compare(name, data, parameters)


def _compare(name: str, data: TrainingSet, parameters: Parameters) -> None:
    platform, by_hand = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        sides = [_side(run, Path(folder), data, parameters) for run in (by_hand, platform)]
        turns.take(sides)
        theirs, mine = (side.took() for side in sides)
    watched = sum(part.processor - part.own for part in mine) / sum(part.seconds for part in mine)
    print(f"{name}, who does not train: {watched:.2%} of one core")
    for what in ("processor", "own", "seconds"):
        _tell(
            f"{name}, {what}",
            [getattr(part, what) for part in mine],
            [getattr(part, what) for part in theirs],
        )


def _side(run: Program, folder: Path, data: TrainingSet, parameters: Parameters) -> Side:
    own = folder / run.__name__
    own.mkdir()
    program = functools.partial(run, data, parameters)
    return Side(program, own, parameters.epochs, run is not ours, TRAINS.get(run.__name__, ""))


def _tell(what: str, mine: Sequence[float], theirs: Sequence[float]) -> None:
    """The ratio of the means, and its middle 95 % over epochs drawn anew."""
    a, b = np.array(mine), np.array(theirs)
    random = np.random.default_rng(0)
    drawn = [
        random.choice(a, len(a)).mean() / random.choice(b, len(b)).mean() - 1 for _ in range(2000)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    print(
        f"{what}: {a.mean():.2f} an epoch, by hand {b.mean():.2f}: {a.mean() / b.mean() - 1:+.1%} "
        f"({low:+.1%} to {high:+.1%}; {len(a)} epochs; medians {np.median(a):.2f}, "
        f"{np.median(b):.2f})",
        flush=True,
    )


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
