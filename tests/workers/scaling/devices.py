"""A family that trains on made-up devices, and says that it was as quick as cards would be.

They lose some of it to one another, as devices that share gradients do. `prepare` makes it one of
the families of this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from backend import families
from backend.domain import Task
from backend.families import Family
from workers.families.base import Detections, Parameters, Picture, Reporter, Trained, TrainingSet

NAME = "devices"
RATE, SHARING = 100.0, 0.01  # images a second of one; what each other one costs each of them
DEFAULTS = {"epochs": 3, "image_size": 64, "batch": 64}
FAMILY = Family(NAME, "Devices", Task.CLASSIFY, __name__, DEFAULTS, from_nothing=True)
TRAINED: list[int] = []  # over how many devices, training by training
AT: list[Callable[[], None]] = []  # what happens at the end of the next ones


def prepare() -> None:
    """Make it known."""
    families.FAMILIES[NAME] = FAMILY
    TRAINED.clear()
    AT.clear()


def forget() -> None:
    """Nobody trains so any more."""
    families.FAMILIES.pop(NAME, None)


def train(
    data: TrainingSet, begin: Path | None, parameters: Parameters, reporter: Reporter, folder: Path
) -> Trained:
    """As quick as so many devices would be, whatever else this machine does."""
    del begin
    assert not list(folder.iterdir()), "every turn has a clean start"
    devices = parameters.workers
    rate = RATE * devices / (1 + SHARING * (devices - 1))
    for epoch in range(1, parameters.epochs + 1):
        reporter.progress(epoch / parameters.epochs, f"Epoch {epoch}")
        reporter.epoch(epoch, parameters.epochs, {"loss": 1 / epoch, "images_per_second": rate})
    TRAINED.append(devices)
    if AT:
        AT.pop(0)()
    made = folder / "model.bin"
    made.write_text(",".join(data.classes))
    placed = [["made-up", f"node-{number}"] for number in range(-(-devices // 8))]
    return Trained(made, {"placed": placed})


def load(path: Path | None, device: str = "cpu") -> Blind:
    """What says the same of every picture."""
    del device
    assert path is not None
    return Blind(tuple(path.read_text().split(",")))


class Blind:
    """Takes each picture for one of the first class."""

    def __init__(self, classes: tuple[str, ...]) -> None:
        self.classes = classes

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """A row a class, over the whole picture."""
        rows = [(0, 0, 1, 1, 1.0 - index, index) for index in range(len(self.classes))]
        return [np.array(rows, np.float32) for _ in batch]

    def export(self, runtime: str, folder: Path) -> Path:
        """There is nothing to be written."""
        raise NotImplementedError(f"{runtime}: {folder}")
