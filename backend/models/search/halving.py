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
    before = mine[-2][0] if len(mine) > 1 else 0
    passed = [rung for rung in rungs(epochs) if before < rung <= mine[-1][0]]
    if not passed:
        return False
    rung = passed[-1]
    there = [_best(each, rung) for each in others if each and each[-1][0] >= rung]
    better = sum(value > _best(mine, rung) for value in there)
    return better >= max(1, (len(there) + 1) // THIRD)


def _best(curve: Curve, rung: int) -> float:
    return max(value for epoch, value in curve if epoch <= max(rung, curve[0][0]))
