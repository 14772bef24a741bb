"""How much may be asked of a search, and what makes no sense of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from backend.errors import Invalid
from backend.jobs import needs
from backend.models.trials import METHODS

LEAST_SHARE = 0.05
MOST_TRIALS, MOST_HOURS = 10_000, 1_000.0


class Budget(NamedTuple):
    """So many trials and hours."""

    trials: int = 0
    hours: float = 0.0


def check_budget(trials: int, hours: float) -> None:
    """Refuse a search that would never begin, or never end."""
    if not (math.isfinite(hours) and 0 <= hours <= MOST_HOURS):
        raise Invalid(f"The hours of a search go from 0 to {MOST_HOURS:g}, not {hours:g}.")
    if not 0 <= trials <= MOST_TRIALS:
        raise Invalid(f"A search has from 1 to {MOST_TRIALS:,} trials, not {trials}.")
    if not trials and not hours:
        raise Invalid("A search needs a budget: say how many trials, or how many hours.")


def check_manner(method: str, at_once: int, share: float, parameters: Mapping[str, Any]) -> None:
    """Refuse a way to try that there is not."""
    if not 0 <= at_once <= MOST_TRIALS:
        raise Invalid(f"At once there are from 1 to {MOST_TRIALS:,} trials, not {at_once}.")
    if method not in METHODS:
        raise Invalid(f"There is no method {method[:40]!r}; there are {', '.join(METHODS)}.")
    if not LEAST_SHARE <= share <= 1:
        raise Invalid(f"A trial takes from {LEAST_SHARE:g} to 1 of a card, not {share:g}.")
    if share < 1 and parameters.get("workers", 1) != 1:
        raise Invalid("A trial of several processes has a card for each: leave the share at 1.")
    if share < 1 and parameters.get("device") == needs.CPU:
        raise Invalid(
            f"A share of {share:g} is a part of a card, and the device is cpu: leave the share at "
            "1, and say how many trials go on at once."
        )
