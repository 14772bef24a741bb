"""Asynchronous successive halving: a trial that lags behind the others ends early.

At each rung (an epoch; each three times as late as the one before) the best third of those that
have come so far goes on. Nobody waits for anybody: a trial is judged by who was there before it.
"""

from __future__ import annotations

from collections.abc import Sequence

THIRD = 3
Curve = Sequence[tuple[int, float]]


def rungs(epochs: int) -> list[int]:
    """The epochs after which a trial of that many is judged."""
    found, each = list[int](), max(1, epochs // THIRD**2)
    while each < epochs:
        found.append(each)
        each *= THIRD
    return found


def stops(mine: Curve, others: Sequence[Curve], epochs: int) -> bool:
    """Whether a trial ends after the last epoch of its curve; what is as good as others stays."""
    if (at := rung(mine, epochs)) is None:
        return False
    there = [_best(each, at) for each in others if each and each[-1][0] >= at]
    better = sum(value > _best(mine, at) for value in there)
    return better >= max(1, (len(there) + 1) // THIRD)


def rung(mine: Curve, epochs: int) -> int | None:
    """The rung that a trial has come to by the last epoch of its curve, if it has."""
    before = mine[-2][0] if len(mine) > 1 else 0
    passed = [each for each in rungs(epochs) if before < each <= mine[-1][0]]
    return passed[-1] if passed else None


def _best(curve: Curve, at: int) -> float:
    return max(value for epoch, value in curve if epoch <= max(at, curve[0][0]))
