"""How people draw boxes: what they add to each side of the usual box, learned from theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.families.golden import forest
from workers.families.golden.features import Rows
from workers.families.golden.forest import Forest

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
HABIT = 20.0  # boxes that the usual margin is worth
FEWEST = 30  # boxes from which a forest may be better than one margin for all
Steps = NDArray[np.float64]  # (boxes, 4): from one box to another, side by side


@dataclass(frozen=True, slots=True)
class Edges:
    """One margin for all and a share of the way to a detector's box; or a forest."""

    margins: NDArray[np.float64]
    share: float = 0.0
    forest: Forest | None = None

    def steps(self, rows: Rows, pulls: Steps) -> Steps:
        """From the usual boxes to those that people would draw."""
        if self.forest is not None:
            return self.forest.says(_with(rows, pulls)).astype(np.float64)
        return np.asarray(self.margins + self.share * pulls, np.float64)


USUAL = Edges(np.zeros(4))


def learn(rows: Rows, pulls: Steps, drawn: Steps, folds: NDArray[np.int64], seed: int) -> Edges:
    """What was `drawn`, from the usual boxes; a forest where cross-validation likes it better."""
    if not len(drawn):
        return USUAL
    simple = _simple(pulls, drawn)
    if len(drawn) < FEWEST or len(set(folds.tolist())) < 2:
        return simple
    off = np.zeros(2)
    for fold in sorted(set(folds.tolist())):
        held = folds == fold
        grown = _grown(rows[~held], pulls[~held], drawn[~held], seed, forest.EDGE_TREES // 3)
        for place, each in enumerate((_simple(pulls[~held], drawn[~held]), grown)):
            off[place] += np.abs(drawn[held] - each.steps(rows[held], pulls[held])).sum()
    return _grown(rows, pulls, drawn, seed, forest.EDGE_TREES) if off[1] < off[0] else simple


def _simple(pulls: Steps, drawn: Steps) -> Edges:
    """The median of what is drawn, drawn towards nothing where there is little."""
    tried = {share: np.median(drawn - share * pulls, axis=0) for share in SHARES}
    off = {s: np.abs(drawn - s * pulls - margin).mean() for s, margin in tried.items()}
    share = min(SHARES, key=off.__getitem__)
    return Edges(len(drawn) / (len(drawn) + HABIT) * tried[share], share)


def _grown(rows: Rows, pulls: Steps, drawn: Steps, seed: int, trees: int) -> Edges:
    return Edges(np.zeros(4), 0.0, forest.fit(_with(rows, pulls), drawn, seed, trees))


def _with(rows: Rows, pulls: Steps) -> Rows:
    return np.hstack([rows, pulls]).astype(np.float32)
