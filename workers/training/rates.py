"""How far the steps of a training go, from the first to the last."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

LAST = 0.02  # of the highest rate


def factor(step: int, steps: int, epochs: int, extra: Mapping[str, Any]) -> float:
    """The share of the highest rate in a step; an epoch has so many `steps`.

    Up from nothing in the first tenth (`warm_up`; without it at most an epoch), then down along a
    cosine, a line, or not at all (`schedule`).
    """
    total = steps * epochs
    usual = min(steps, total // 10)
    warm = max(1, int(total * float(extra["warm_up"]))) if "warm_up" in extra else max(1, usual)
    if step < warm:
        return (step + 1) / warm
    way = (step - warm) / max(1, total - warm)
    falls = {"cosine": (1 + math.cos(math.pi * way)) / 2, "linear": 1 - way, "steady": 1.0}
    return LAST + (1 - LAST) * falls[str(extra.get("schedule", "cosine"))]
