"""How far a share that was counted may lie from the true one."""

from __future__ import annotations

import math

NORMAL = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations


def wilson(hits: int, of: int) -> list[float] | None:
    """The 95 % interval of a share; it holds at its ends and for few pictures, too."""
    if not of:
        return None
    share, square = hits / of, NORMAL**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = NORMAL / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of**2))
    return [max(0.0, middle - half), min(1.0, middle + half)]
