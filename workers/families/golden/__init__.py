"""The golden family: a picture against its clean reference; may ask other families, no room.

Untrained it is rules; trained, a forest over the same proposals takes part as far as
cross-validation says that it is better. Where the project has a trained detector, what that says
of each proposal is part of what the forest looks at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backend.words import many
from workers.families.base import Parameters, Reporter, Trained, TrainingSet
from workers.families.golden import golden_file, lessons, names, options
from workers.families.golden import learning as learns
from workers.families.golden import partner as partners
from workers.families.golden.crossing import crossed as crossed
from workers.families.golden.likelihood import Likelihood
from workers.families.golden.model import GoldenModel
from workers.families.golden.partner import Partner


def untrained(classes: Sequence[str] = (), extra: Mapping[str, Any] | None = None) -> GoldenModel:
    """The rules, which name what they find as the project does where its classes allow that."""
    chosen, known = options.read(extra or {}), names.classes_for(classes)
    return GoldenModel(known, chosen, Likelihood(names.table(known).astype(np.float32)))


def load(weights_file: Path | None, device: str) -> GoldenModel:
    """A trained model, or the rules where there are no weights."""
    return untrained() if weights_file is None else golden_file.read(weights_file, device)


def train(
    snapshot: TrainingSet,
    start: Path | None,
    parameters: Parameters,
    reporter: Reporter,
    folder: Path,
) -> Trained:
    """Learn from the labelled pictures of the training split; takes seconds for hundreds.

    `start` is no start but a partner: a detector of the project, whose evidence joins the
    features. `parameters.extra["partner"]` holds its name and family.
    """
    chosen = options.read(parameters.extra)
    other = _partner(start, parameters.extra.get("partner", {}))
    read, glosses = lessons.School(snapshot, chosen, reporter, other, parameters.seed).read()
    reporter.progress(0.9, f"Learning from {many(len(read), 'picture')}.")
    learned = learns.learn(read, snapshot.classes, parameters.seed)
    file = folder / "golden.npz"
    model = GoldenModel(snapshot.classes, chosen, learned.judge, learned.edges, other, glosses)
    golden_file.write(model, file)
    reporter.epoch(1, 1, learned.figures)
    return Trained(file, learned.figures)


def _partner(file: Path | None, about: Mapping[str, str]) -> Partner | None:
    if file is None:
        return None
    return partners.read(about.get("name", file.name), about.get("family", "yolo"), file, "")
