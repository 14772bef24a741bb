"""A family that sleeps as long as a card would compute; who trains it reads no library for it."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

from workers.families.base import Parameters, Reporter, Trained, TrainingSet

NAME = "sleeping"
BEST = 0.01


def train(
    data: TrainingSet, begin: Path | None, parameters: Parameters, reporter: Reporter, folder: Path
) -> Trained:
    """One epoch that takes its time, told in a file that all trials share."""
    del data, begin
    began = time.time()
    time.sleep(float(parameters.extra["pause"]))
    worth = 1 - abs(math.log10(parameters.learning_rate / BEST)) / 6
    reporter.epoch(1, 1, {"loss": 1.0, "map50": worth})
    path = folder / "model.bin"
    path.write_text("")
    with (folder.parent.parent / "times.txt").open("a") as story:
        story.write(f"{os.getpid()} {began} {time.time()}\n")
    return Trained(path, {"map50": worth})


def load(path: Path | None, device: str = "cpu") -> Any:
    """A model that finds nothing."""
    from tests.workers.tuning import curves

    return curves.load(path, device)
