"""Runs as the page that starts them is shown them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain import Run


@dataclass(frozen=True, slots=True)
class RunCard:
    """A run with what it has written so far."""

    id: int
    model: str
    family: str
    runtime: str
    purpose: str
    author: str
    at: datetime
    finished: datetime | None
    seconds: float
    source: Mapping[str, Any]
    facts: Mapping[str, Any]
    images: int
    detections: int
    failed: int


def card(run: Run, totals: Mapping[str, int]) -> RunCard:
    """A run among others: of its facts the figures alone, which are small whatever it did."""
    return RunCard(
        id=run.id,
        model=run.model,
        family=run.family,
        runtime=run.runtime,
        purpose=run.purpose,
        author=run.author,
        at=run.at,
        finished=run.finished,
        seconds=run.seconds,
        source=run.source,
        facts={k: v for k, v in run.facts.items() if not isinstance(v, (dict, list))},
        images=totals["images"],
        detections=totals["detections"],
        failed=totals["failed"],
    )
