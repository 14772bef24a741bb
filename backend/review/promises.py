"""What may be promised of escapes from what was counted, and the score that keeps the promise.

Each defect has the score by which it was found, 0 where it never was: it escapes at any threshold
above that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Numbers = NDArray[np.int64]

LEVEL = 0.95
# Where about so many of a hundred escape, their spread over boards can be told from chance.
TELLING = 0.1


@dataclass(frozen=True, slots=True)
class Defects:
    """By which score each defect was found, and on which board it is."""

    scores: Scores
    boards: Numbers

    def __len__(self) -> int:
        return len(self.scores)

    def escaping(self, threshold: float) -> int:
        """How many are found by no score of at least the threshold."""
        return int((self.scores < threshold).sum())


def at_most(escapes: float, defects: float, level: float = LEVEL) -> float:
    """The share of escapes that is not exceeded, by Clopper and Pearson's exact bound."""
    from scipy.special import betaincinv

    if escapes >= defects:
        return 1.0
    return float(betaincinv(escapes + 1, defects - escapes, level))


def fewest(share: float, level: float = LEVEL) -> int:
    """How many defects must be seen, without one escape, to promise a share."""
    return math.ceil(math.log(1 - level) / math.log(1 - share))


def crowding(defects: Defects) -> float:
    """How many defects count as one, because those of a board escape together; at least 1."""
    if len(defects) < 2:
        return 1.0
    missed = defects.scores < np.quantile(defects.scores, TELLING)
    share = missed.mean()
    if not 0 < share < 1:
        return 1.0
    _, place = np.unique(defects.boards, return_inverse=True)
    apart = np.bincount(place, weights=missed - share)
    number, boards = len(defects), len(apart)
    freedom = boards / max(1, boards - 1) * (number - 1) / number
    return max(1.0, float((apart**2).sum() / (number * share * (1 - share)) * freedom))


def safest(defects: Defects, share: float, level: float = LEVEL) -> float | None:
    """The highest threshold at which at most that share escapes, as surely as the level says.

    Thresholds are tried from the lowest up until the first that fails, so that trying many of
    them costs none of the certainty; None where even the lowest may let more pass.
    """
    effect, best = crowding(defects), None
    number = len(defects) / effect
    for threshold in np.unique(defects.scores[defects.scores > 0]):
        if at_most(defects.escaping(threshold) / effect, number, level) > share:
            break
        best = float(threshold)
    return best


def cheapest(found: Scores, calls: Scores, escape: float, false_call: float) -> float:
    """The threshold at which escapes and false calls cost least together.

    `found` are scores of defects, `calls` of alarms at good spots. Of equally cheap stretches of
    scores the lowest is taken, in its middle; none goes below the lowest score, as nobody has seen
    what else would count there.
    """
    steps = np.unique(np.concatenate([found[found > 0], calls]))
    if not len(steps):
        return 0.5
    costs = price(found, calls, np.append(steps, np.inf), escape, false_call)
    at = int(np.argmin(costs))
    if at == len(steps):
        return 1.0
    below = steps[max(0, at - 1)]
    return float((below + steps[at]) / 2)


def price(
    found: Scores, calls: Scores, thresholds: Scores | Sequence[float], escape: float, call: float
) -> Scores:
    """What the escapes and false calls at each threshold cost."""
    escapes = np.searchsorted(np.sort(found), thresholds, side="left")
    alarms = len(calls) - np.searchsorted(np.sort(calls), thresholds, side="left")
    total: Scores = escapes * escape + alarms * call
    return total
