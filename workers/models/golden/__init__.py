"""The golden family: a picture is compared with the clean reference picture of its product.

Untrained it is rules; trained, a forest over the same proposals takes part as far as
cross-validation says that it is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workers.models.base import Parameters, Reporter, Trained, TrainingSet
from workers.models.golden import learning as learns
from workers.models.golden import lessons, names, settings, weights
from workers.models.golden.judging import Judge
from workers.models.golden.model import GoldenModel


def untrained(classes: Sequence[str] = (), extra: Mapping[str, Any] | None = None) -> GoldenModel:
    """The rules, which name what they find as the project does where its classes allow that."""
    chosen, known = settings.read(extra or {}), names.classes_for(classes)
    judge = Judge(names.table(known).astype(np.float32))
    return GoldenModel(known, chosen, judge, np.zeros(4))


def load(weights_file: Path | None, device: str) -> GoldenModel:  # noqa: ARG001  (CPU only)
    """A trained model, or the rules where there are no weights."""
    return untrained() if weights_file is None else weights.read(weights_file)


def train(
    snapshot: TrainingSet,
    start: Path | None,  # noqa: ARG001  (a forest grows anew in seconds)
    parameters: Parameters,
    reporter: Reporter,
    folder: Path,
) -> Trained:
    """Learn from the labelled pictures of the training split; takes seconds for hundreds."""
    chosen = settings.read(parameters.extra)
    read = lessons.read(snapshot, chosen, reporter)
    reporter.progress(0.9, f"Learning from {len(read)} pictures.")
    learned = learns.learn(read, snapshot.classes, parameters.seed)
    file = folder / "golden.npz"
    weights.write(GoldenModel(snapshot.classes, chosen, learned.judge, learned.margins), file)
    reporter.epoch(1, 1, learned.figures)
    return Trained(file, learned.figures)
