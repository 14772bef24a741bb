"""What all training loops share: the task, this process's place in it, and throttled reports."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import distributed as dist

from backend.domain import Split
from backend.errors import Invalid, NotFound, Refused
from backend.jobs import needs
from workers.families.base import Example, Parameters, Pixels, Reporter, TrainingSet
from workers.weights import weight_files

LARGEST_SIDE = 4096
NOT_BETTER = "No epoch was better than the start weights on the validation images: they are kept."


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """All that a training loop is told; a retry finds `folder` as the killed process left it."""

    data: TrainingSet
    start: Path | None
    parameters: Parameters
    folder: Path


@dataclass(frozen=True, slots=True)
class Place:
    """Which of how many processes this is, and what it computes on."""

    rank: int = 0
    count: int = 1
    device: str = "cpu"
    threads: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process reports and saves."""
        return self.rank == 0


class Loop(Protocol):
    """A family's training loop: the same function in each process; the leader's figures count."""

    def __call__(self, task: TrainingTask, place: Place, reporter: Reporter) -> Mapping[str, Any]:
        """Train from the last checkpoint in the folder, or from the start."""
        ...


class EpochMeter:
    """Passes progress on at most twice a second, so that a fast loop is not slowed by telling."""

    def __init__(self, reporter: Reporter, epochs: int, every: float = 0.5) -> None:
        self.reporter, self.epochs, self.every = reporter, epochs, every
        self.batches = 1
        self.begin_epoch()

    def begin_epoch(self) -> None:
        """Count the batches and images of the next epoch only, and tell its first batch."""
        self.done, self.images, self.started = 0, 0, time.monotonic()
        self.told = 0.0

    def batch(self, epoch: int, images: int, loss: float) -> None:
        """One more batch of an epoch (counted from 0) is done."""
        self.done += 1
        self.images += images
        if time.monotonic() - self.told < self.every:
            return
        self.told = time.monotonic()
        self.reporter.progress(
            min(1.0, (epoch + self.done / self.batches) / self.epochs),
            f"Epoch {epoch + 1} of {self.epochs}, batch {self.done} of {self.batches}: "
            f"loss {loss:.3f}, {self.images_per_second:.1f} images/s",
        )

    @property
    def images_per_second(self) -> float:
        """The speed of this epoch."""
        return self.images / max(1e-9, time.monotonic() - self.started)


class Silent:
    """The reporter of a process that does not lead."""

    def progress(self, fraction: float, message: str) -> None:
        """Said by the leader."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """Said by the leader."""

    def log(self, text: str) -> None:
        """Said by the leader."""


def check(data: TrainingSet, parameters: Parameters) -> None:
    """Refuse, before anything is started, what cannot be trained."""
    if parameters.epochs < 1:
        raise Invalid(f"A training needs at least 1 epoch, not {parameters.epochs}.")
    if not 32 <= parameters.image_size <= LARGEST_SIDE:
        raise Invalid(
            f"The image size must be from 32 to {LARGEST_SIDE} pixels, not {parameters.image_size}."
        )
    if parameters.batch < 1 or parameters.workers < 1:
        raise Invalid("The batch and the number of workers must be at least 1.")
    if not data.classes:
        raise Refused("The project has no classes, so there is nothing to learn.")
    if not data.of(Split.TRAIN):
        raise Refused("No image is in the training split, so there is nothing to learn from.")
    for example in data.examples:
        if not example.path.is_file():
            raise NotFound(f"The image {example.name or example.path.name} is not there any more.")


def check_boxes(data: TrainingSet) -> None:
    """Refuse training images without a single box, and boxes of classes that do not exist."""
    for example in data.examples:
        for box in example.boxes:
            if box.label not in data.classes:
                raise Invalid(f"{example.name}: there is no class {box.label!r} in this project.")
    if not any(example.boxes for example in data.of(Split.TRAIN)):
        raise Refused("No training image has a box, so there is nothing to learn.")


def pixels(example: Example) -> Pixels:
    """The picture in colour, or a sentence that it cannot be read."""
    found = cv2.imread(str(example.path), cv2.IMREAD_COLOR)
    if found is None:
        raise NotFound(f"The image {example.name or example.path.name} cannot be read any more.")
    return cast("Pixels", found)


def boxes(example: Example, classes: tuple[str, ...]) -> NDArray[np.float64]:
    """Its boxes, cut at the picture's edges, as rows x1, y1, x2, y2, class."""
    rows = [(b.x1, b.y1, b.x2, b.y2, classes.index(b.label)) for b in example.boxes]
    found = np.array(rows, np.float64).reshape(-1, 5)
    found[:, 0:4:2] = found[:, 0:4:2].clip(0, example.width)
    found[:, 1:4:2] = found[:, 1:4:2].clip(0, example.height)
    return found[(found[:, 2] > found[:, 0]) & (found[:, 3] > found[:, 1])]


def judged_on(data: TrainingSet, reporter: Reporter) -> tuple[Example, ...]:
    """The validation images; where there are none, the training images, and the log says so."""
    if chosen := data.of(Split.VAL):
        return chosen
    reporter.log("There are no validation images: the curves are measured on the training images.")
    return data.of(Split.TRAIN)


def knows_all(task: TrainingTask) -> bool:
    """Whether the start weights are of ours and know each class of the project."""
    if task.start is None or not weight_files.is_ours(task.start):
        return False
    return set(task.data.classes) <= set(weight_files.peek(task.start).classes)


def known(value: float) -> str:
    """What the log says of start weights that know all classes."""
    return f"The start weights reach {value:.3f} on the validation images before any training."


def gather(mine: Any, place: Place) -> list[Any]:
    """What each process has, by rank."""
    if place.count == 1:
        return [mine]
    everyones: list[Any] = [None] * place.count
    dist.all_gather_object(everyones, mine)
    return everyones


def mean_over_all(values: Mapping[str, float], place: Place) -> dict[str, float]:
    """The mean of each value over all processes."""
    parts = gather(dict(values), place)
    return {name: sum(part[name] for part in parts) / len(parts) for name in values}


def drift(network: torch.nn.Module, place: Place) -> float:
    """How far the weights of the processes lie apart: 0 as long as gradients are shared."""
    sums = [float(value.detach().double().abs().sum()) for value in network.parameters()]
    parts = np.array(gather(sums, place))
    return float((parts.max(axis=0) - parts.min(axis=0)).max())


def diverged(epoch: int) -> Refused:
    """The loss is no number any more."""
    return Refused(
        f"The loss was no number any more in epoch {epoch + 1}: train again with a lower learning "
        "rate or another seed."
    )


def device(asked: str = needs.AUTO) -> str:
    """The device of this process that was asked for; without a wish, the best."""
    card = torch.cuda.is_available()
    if asked == needs.GPU and not card:
        raise Refused(
            "A GPU is asked for, and this machine has none that torch can use: ask for the device "
            "cpu, or name a cluster that has GPUs with LOUPE_RAY_ADDRESS."
        )
    return "cuda:0" if card and asked != needs.CPU else "cpu"


def has_bf16(device: str) -> bool:
    """Whether half the bits give about twice the speed on this device."""
    if device == "cpu":
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return bool(torch.cuda.is_bf16_supported())


def half(parameters: Parameters, device: str) -> bool:
    """Whether to compute with half the bits: where it is quicker, unless it is switched off."""
    return bool(parameters.extra.get("half", True)) and has_bf16(device)


def threads(share: int = 1) -> int:
    """The cores for each of `share` processes on this machine."""
    return max(1, len(os.sched_getaffinity(0)) // share)
