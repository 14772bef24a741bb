"""Which values a trial takes: by seed and number, so that a search that goes on needs no past."""

from __future__ import annotations

import random
from collections.abc import Sequence

from backend.spaces import Dimension

AGAIN = 100


def draw(
    space: Sequence[Dimension], seed: int, number: int, tried: Sequence[dict[str, float]]
) -> dict[str, float] | None:
    """Values that no trial has had, None where none are left; trial 0 changes nothing."""
    if number == 0:
        return {}
    chance = random.Random(f"{seed}:{number}")
    for _ in range(AGAIN):
        values = {each.name: each.at(chance.random()) for each in space}
        if values not in tried:
            return values
    return None
