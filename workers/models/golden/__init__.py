"""The golden family: a picture is compared with the clean reference picture of its product.

Untrained it is rules; trained, a forest over the same proposals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.errors import Refused
from workers.models.base import Parameters, Reporter, Trained, TrainingSet
from workers.models.golden import names, settings
from workers.models.golden.model import GoldenModel


def untrained(classes: Sequence[str] = (), extra: Mapping[str, Any] | None = None) -> GoldenModel:
    """The rules, which name what they find as the project does where its classes allow that."""
    return GoldenModel(names.classes_for(classes), settings.read(extra or {}))


def load(weights: Path | None, device: str) -> GoldenModel:  # noqa: ARG001  (it runs on the CPU)
    """A trained model, or the rules where there are no weights."""
    if weights is None:
        return untrained()
    raise Refused("Golden models cannot be trained yet.")


def train(
    snapshot: TrainingSet,
    start: Path | None,  # noqa: ARG001
    parameters: Parameters,  # noqa: ARG001
    reporter: Reporter,  # noqa: ARG001
    folder: Path,  # noqa: ARG001
) -> Trained:
    """A forest over the proposals of the labelled pictures."""
    raise Refused(f"Golden models cannot be trained yet: {len(snapshot.examples)} pictures wait.")
