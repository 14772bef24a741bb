"""What a model family is: train, load, predict, export, and nothing more.

Detections of a picture are one float32 array (n, 6): x1, y1, x2, y2, score, class index,
corners in pixels of the picture, best score first. Of a model of two stages it has STAGED columns:
behind those six the score and the class index that the detector alone gave. A picture that a model
cannot judge (its golden is missing or shows another product) gets a Refused with the reason in
place of detections, so one such picture never spoils its batch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from backend import families
from backend.domain import Box, Split
from backend.errors import Refused
from backend.jobs import needs

Pixels = NDArray[np.uint8]
Detections = NDArray[np.float32]
Answer = Detections | Refused
# How a golden lies on a picture: a, b, c, d, e, f take x, y of the picture to a x + b y + c and
# d x + e y + f of its golden, stretched to the picture's size; empty where nobody knows.
Lie = tuple[float, ...]
# What a file may say of its classes.
MOST_CLASSES, LONGEST_NAME = 10_000, 200
STAGED = 8
NOTHING: Detections = np.zeros((0, 6), np.float32)


@dataclass(frozen=True, slots=True)
class Picture:
    """What a model looks at: BGR (h, w, 3) or grey (h, w), with its golden where there is one."""

    pixels: Pixels
    golden: Pixels | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled picture on this machine's disk; `label` is the class of a classified image."""

    path: Path
    width: int
    height: int
    split: Split
    boxes: tuple[Box, ...] = ()
    label: str = ""
    golden: Path | None = None
    group: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A snapshot laid out as files on this machine."""

    classes: tuple[str, ...]
    examples: tuple[Example, ...]

    def of(self, split: Split) -> tuple[Example, ...]:
        """The examples of one split."""
        return tuple(example for example in self.examples if example.split == split)


@dataclass(frozen=True, slots=True)
class Parameters:
    """How to train; what a family does not use, it ignores.

    `cores` are those of each process (0: its share of the machine), `nodes` over how many of a
    cluster they stand (0: as they fit, and one process needs none).
    """

    epochs: int = 20
    image_size: int = 640
    batch: int = 16
    workers: int = 1
    seed: int = 0
    variant: str = ""
    patience: int = 50
    learning_rate: float = 0.0
    device: str = needs.AUTO
    memory_gb: float = 0.0
    cores: int = 0
    nodes: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture as a training sees it: BGR, its boxes as x1, y1, x2, y2, class, or its label."""

    pixels: Pixels
    boxes: NDArray[np.float64]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training leaves behind: a weights file, and the family's own figures."""

    weights: Path
    figures: Mapping[str, Any] = field(default_factory=dict)


class Reporter(Protocol):
    """What a family tells the outside while it trains; each call may raise Cancelled."""

    def progress(self, fraction: float, message: str) -> None:
        """How far it is, from 0 to 1, with a sentence."""

    def epoch(self, epoch: int, epochs: int, figures: Mapping[str, float]) -> None:
        """One epoch is done: a point of every curve."""

    def log(self, text: str) -> None:
        """A line for the job's log."""


class LoadedModel(Protocol):
    """A trained model in memory."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of what it finds, by class index."""
        ...

    def predict(self, batch: Sequence[Picture]) -> Sequence[Answer]:
        """The detections of each picture, best first, or why there are none to be had."""
        ...

    def export(self, runtime: str, folder: Path) -> Path:
        """Write the model in the form that a runtime of `workers.runtimes` reads."""
        ...


@runtime_checkable
class Laying(Protocol):
    """A model that lays each picture's golden on it, and tells how."""

    def laid(self, batch: Sequence[Picture]) -> Sequence[tuple[Answer, Lie]]:
        """The answers of `predict`, each with how its golden lies."""
        ...


@runtime_checkable
class Seeing(Protocol):
    """A family that changes pictures each time it learns from them."""

    seen: Callable[[TrainingSet, Parameters, int], Iterator[Seen]]
    """Some of so many pictures, as the training would see them."""


class FamilyModule(Protocol):
    """A module of this folder."""

    train: Callable[[TrainingSet, Path | None, Parameters, Reporter, Path], Trained]
    load: Callable[[Path | None, str], LoadedModel]


@runtime_checkable
class Crossing(Protocol):
    """A family that looks at each picture once, into however many parts the labels go.

    `crossed` is what models find that have each learned from all parts but the picture's own.
    """

    crossed: Callable[[TrainingSet, Sequence[int], int, Reporter], Sequence[Answer]]


def implementation(family: str) -> FamilyModule:
    """The module that implements a family of `backend.families`."""
    return cast("FamilyModule", importlib.import_module(families.find(family).module))
