"""Golden board and trained detector together: each is right where the other is unsure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend import matching
from backend.errors import Refused
from workers.models.base import NOTHING, Answer, Detections, Model, Picture

SAME = 0.33  # overlap from which both mean the same place
SHARE = 0.5  # the detector's share of the score and of the corners
FAINT = 0.001


@dataclass(frozen=True)
class Fused:
    """A golden model (rules or forest) and a detector of the same project, as one model."""

    golden: Model
    detector: Model

    @property
    def classes(self) -> tuple[str, ...]:
        """The golden model's classes; what only the detector knows comes behind them."""
        new = (name for name in self.detector.classes if name not in self.golden.classes)
        return (*self.golden.classes, *new)

    def predict(self, batch: Sequence[Picture]) -> list[Answer]:
        """The joined detections; a picture that either refuses is refused."""
        both = zip(self.golden.predict(batch), self.detector.predict(batch), strict=True)
        return [self._joined(ours, theirs) for ours, theirs in both]

    def _joined(self, ours: Answer, theirs: Answer) -> Answer:
        if isinstance(ours, Refused):
            return ours
        if isinstance(theirs, Refused):
            return theirs
        index = np.array([self.classes.index(name) for name in self.detector.classes], np.float32)
        named = theirs.copy()
        named[:, 5] = index[theirs[:, 5].astype(np.int64)]
        return fuse(ours, named, len(self.classes))

    def export(self, runtime: str, folder: Path) -> Path:  # noqa: ARG002
        """Two models have no common form."""
        raise Refused(f"A fusion of two models does not run on {runtime}; export its detector.")


def fuse(ours: Detections, theirs: Detections, classes: int, share: float = SHARE) -> Detections:
    """Means of the scores where both see a place; what only one sees keeps its part of them."""
    places, which = np.unique(ours[:, :4], axis=0, return_inverse=True)
    say = np.zeros((len(places), classes), np.float32)
    say[which.ravel(), ours[:, 5].astype(np.int64)] = ours[:, 4]
    overlap = matching.overlaps(places, theirs)
    same = overlap >= SAME
    evidence = _evidence(same, theirs, classes)
    chances = (1 - share) * say + share * evidence
    boxes = _between(places, theirs, overlap * same, share)
    place, index = np.nonzero(chances > FAINT)
    joined = np.column_stack([boxes[place], chances[place, index], index])
    alone = theirs[~same.any(axis=0)] * np.array([1, 1, 1, 1, share, 1], np.float32)
    found = np.concatenate([joined.reshape(-1, 6), alone]).astype(np.float32)
    return found[np.argsort(-found[:, 4], kind="stable")] if len(found) else NOTHING


def _evidence(same: NDArray[np.bool_], theirs: Detections, classes: int) -> NDArray[np.float32]:
    """(places, classes): the detector's best score of each class at each place."""
    best = np.zeros((len(same), classes), np.float32)
    place, row = np.nonzero(same)
    np.maximum.at(best, (place, theirs[row, 5].astype(np.int64)), theirs[row, 4])
    return best


def _between(
    places: Detections, theirs: Detections, same: NDArray[np.float64], share: float
) -> NDArray[np.float32]:
    """Corners drawn towards the detector's, as far as it is sure."""
    if not same.size:
        return places
    worth = same * theirs[:, 4]
    best = worth.argmax(axis=1)
    pull = share * np.where(worth.max(axis=1) > 0, theirs[best, 4], 0)[:, None]
    return np.asarray((1 - pull) * places + pull * theirs[best, :4], np.float32)
