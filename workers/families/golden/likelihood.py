"""How likely each proposal is a defect of each class: by rules, by a forest, or by both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend import matching
from workers.families.golden import evidence, features, rules
from workers.families.golden.features import COLUMN, Rows
from workers.families.golden.forest import Forest

SHARPLY = 2  # power by which a place loses that a likelier one overlaps


@dataclass(frozen=True, slots=True)
class Calibration:
    """Makes chances honest: a line on the log odds of a defect."""

    slope: float = 1.0
    offset: float = 0.0

    def applied(self, outcomes: Rows) -> Rows:
        """(proposals, classes): chances, from outcomes of which the last is that all is well."""
        defect = 1 - outcomes[:, -1]
        sure = 1 / (1 + np.exp(-(self.slope * log_odds(defect) + self.offset)))
        return np.asarray(outcomes[:, :-1] * (sure / np.maximum(defect, 1e-6))[:, None], np.float32)


@dataclass(frozen=True, slots=True)
class Likelihood:
    """What turns the features of proposals into chances."""

    kinds: NDArray[np.float32]  # (kinds of the rules, classes): which class a kind is
    forest: Forest | None = None
    weight: float = 0.0  # of the forest, against the rules
    calibration: Calibration = Calibration()

    def chances(self, rows: Rows) -> Rows:
        """(proposals, classes): calibrated chances."""
        outcomes = by_rules(rows, self.kinds)
        if self.forest is not None and self.weight > 0:
            outcomes = mixed(outcomes, self.forest.says(rows), self.weight)
        return self.calibration.applied(outcomes)


def each_once(boxes: NDArray[np.float64], chances: Rows) -> Rows:
    """The chances that a place is a defect of its own, not a likelier one once more."""
    order = np.argsort(-chances.max(axis=1, initial=0), kind="stable")
    overlap = matching.overlaps(boxes[order], boxes[order])
    apart = np.empty(len(boxes), np.float32)
    apart[order] = (1 - np.tril(overlap, -1).max(axis=1, initial=0)) ** SHARPLY
    return chances * apart[:, None]


def by_rules(rows: Rows, kinds: NDArray[np.float32]) -> Rows:
    """(proposals, classes + 1): what the rules say; the last outcome is that nothing is wrong.

    Where a detector was asked, it has half the say.
    """
    thickness, unexplained, covered = (
        rows[:, COLUMN[name]] for name in ("thickness", "unexplained", "covered")
    )
    weight = np.where(features.stains(rows), rules.BLOT, 1) * np.where(
        features.cut(rows), rules.CUT, 1
    )
    defect = rules.score(thickness, unexplained, covered, weight.astype(np.float32))[:, None]
    chances = defect * (features.votes(rows) @ kinds)
    told = rows[:, len(features.NAMES) + len(evidence.NAMES) :]
    if told.shape[1]:
        chances = (chances + told) / 2
    rest = np.maximum(0, 1 - chances.sum(axis=1, keepdims=True))
    return np.hstack([chances, rest]).astype(np.float32)


def mixed(rules_say: Rows, forest_says: Rows, weight: float) -> Rows:
    """The weighted mean of both."""
    return np.asarray(weight * forest_says + (1 - weight) * rules_say, np.float32)


def log_odds(chance: Rows) -> NDArray[np.float64]:
    """The logarithm of the odds, kept finite."""
    safe = np.clip(chance.astype(np.float64), 1e-4, 1 - 1e-4)
    return np.log(safe / (1 - safe))
