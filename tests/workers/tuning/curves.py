"""A family whose trials are worth what their learning rate says: the nearer to .01, the better.

Its epochs take as long as `extra["pause"]` says, it goes on after a kill, and it keeps a list of
all epochs that were done. `prepare` makes it one of the families of this process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

from backend import families, spaces
from backend.domain import Task
from backend.families import Family
from backend.spaces import Dimension, Spacing, Tunable
from workers.families.base import (
    NOTHING,
    Detections,
    Parameters,
    Picture,
    Reporter,
    Trained,
    TrainingSet,
)
from workers.weights import weight_files

NAME = "curves"
BEST = 0.01
TOO_FAST, TOO_LARGE = 5.0, 4096  # what is no number any more, and what no memory holds
FAMILY = Family(NAME, "Curves", Task.DETECT, __name__, {"epochs": 9, "learning_rate": 1e-4})
RATE = Tunable(Dimension("learning_rate", Spacing.LOG, 1e-4, 1.0), 1e-9, 10.0)
BATCH = Tunable(Dimension("batch", Spacing.CHOICE, choices=(2, 4)), 1, TOO_LARGE, usual=False)


def prepare() -> None:
    """Add the rows that every family has."""
    families.FAMILIES[NAME] = FAMILY
    spaces.TUNABLES[NAME] = (RATE, BATCH)  # type: ignore[index]


def forget() -> None:
    """Take them away again."""
    families.FAMILIES.pop(NAME, None)
    spaces.TUNABLES.pop(NAME, None)  # type: ignore[attr-defined]


def worth(rate: float, epoch: int) -> float:
    """What a learning rate reaches by an epoch."""
    return (1 - abs(math.log10(rate / BEST)) / 6) * epoch / (epoch + 1)


def train(
    data: TrainingSet, begin: Path | None, parameters: Parameters, reporter: Reporter, folder: Path
) -> Trained:
    """As many epochs as are missing."""
    del begin
    if parameters.batch >= TOO_LARGE:
        raise MemoryError
    last, rate = folder / "last.txt", parameters.learning_rate
    done = int(last.read_text()) if last.is_file() else 0
    if done:  # a kill may have come before it was told
        reporter.epoch(done, parameters.epochs, _figures(rate, done))
    for epoch in range(done + 1, parameters.epochs + 1):
        reporter.progress((epoch - 1) / parameters.epochs, f"Epoch {epoch}")
        time.sleep(float(parameters.extra.get("pause", 0.0)))
        with (folder.parent.parent / "epochs.txt").open("a") as story:
            story.write(f"{folder.name} {epoch}\n")
        weight_files.write_whole(last, str(epoch).encode())
        reporter.epoch(epoch, parameters.epochs, _figures(rate, epoch))
    path = folder / "model.bin"
    path.write_text(f"{rate!r} {len(data.classes)}")
    return Trained(path, {"map50": worth(rate, parameters.epochs)})


def _figures(rate: float, epoch: int) -> dict[str, float]:
    loss = math.nan if rate >= TOO_FAST else 1 / epoch
    return {"loss": loss, "map50": worth(rate, epoch)}


def load(path: Path | None, device: str = "cpu") -> Blind:
    """A model that finds nothing."""
    del path, device
    return Blind()


class Blind:
    """Sees nothing anywhere."""

    classes = ()

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """Nothing."""
        return [NOTHING for _ in batch]

    def export(self, runtime: str, folder: Path) -> Path:
        """There is nothing to be written."""
        raise NotImplementedError(f"{runtime}: {folder}")
