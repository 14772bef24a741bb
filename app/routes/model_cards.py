"""Models as pages are shown them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from backend.domain import Model, ModelState
from backend.models import registry
from backend.models.evaluations import Against, Evaluation, Metrics, RuntimeWorth
from backend.models.registry import Details


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A trained version, with the figures that lists show."""

    id: int
    name: str
    family: str
    state: ModelState
    classes: Sequence[str]
    champion: bool
    at: datetime
    snapshot: int | None
    parent: int | None
    job: int | None
    parameters: Mapping[str, Any]
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class ModelDetails(ModelCard):
    """All that is known of a model."""

    weights: str
    author: str
    evaluation: Evaluation
    against: Against
    provenance: Mapping[str, Any]
    runtimes: Sequence[RuntimeWorth]
    verdict: str
    offered: bool
    reigned: bool


def card(model: Model) -> ModelCard:
    """A model among others."""
    return ModelCard(**_shown(model))


def whole(told: Details, champion: Model | None) -> ModelDetails:
    """A model with all that was measured of it, beside the champion."""
    return ModelDetails(
        **_shown(told.model),
        weights=told.model.weights,
        author=told.author,
        evaluation=cast(Evaluation, told.evaluation),
        against=cast(Against, told.against),
        provenance=told.provenance,
        runtimes=[cast(RuntimeWorth, one) for one in told.runtimes],
        verdict=registry.verdict(told),
        offered=registry.offered(told, champion),
        reigned=told.reigned,
    )


def _shown(model: Model) -> dict[str, Any]:
    return {
        "id": model.id,
        "name": model.name,
        "family": model.family,
        "state": model.state,
        "classes": list(dict.fromkeys(model.classes)),
        "champion": model.champion,
        "at": model.at,
        "snapshot": model.snapshot_id,
        "parent": model.parent_id,
        "job": model.job_id,
        "parameters": model.parameters,
        "metrics": cast(Metrics, model.metrics),
    }
