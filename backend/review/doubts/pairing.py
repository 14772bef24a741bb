"""What a model found in a picture beside its labels: which is which, and what stands alone.

Labels are rows x1, y1, x2, y2, class; what was found is rows x1, y1, x2, y2, score, class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend import matching
from backend.matching import Floats

SAME = 0.5  # overlap from which two finds are one place
NEAR = 0.3  # from which a place shows a label
TOUCHES = 0.1  # from which a place that shows no label may still be about one
INSIDE = 0.6  # share of a place that lies in a label, from which it is a part of it
AWAY = 1.2  # longer sides from the middle of a label to that of the place that it slipped from
SURE = 0.3  # score from which a label may have slipped from a place

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Looked:
    """A picture's labels, and what was found there by who did not learn from them."""

    labels: Floats
    found: Floats


@dataclass(frozen=True, slots=True)
class Places:
    """Where something was found, the surest first: its box, and the score of each class."""

    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def best(self) -> NDArray[np.float64]:
        """The highest score of each place."""
        return np.asarray(self.scores.max(axis=1, initial=0.0))

    @property
    def kinds(self) -> NDArray[np.int64]:
        """The class that has it."""
        return np.asarray(self.scores.argmax(axis=1), np.int64)


@dataclass(frozen=True, slots=True)
class Paired:
    """A picture's places beside its labels.

    `pairs` are of a label and the place that shows it, `slipped` of a label that nothing shows and
    a place beside it that shows none; `alone` are places that show no label and touch none, and
    `support` says of each label how surely anything was found that touches it.
    """

    places: Places
    labels: Floats
    pairs: tuple[Pair, ...]
    slipped: tuple[Pair, ...]
    alone: NDArray[np.int64]
    support: NDArray[np.float64]
    overlap: NDArray[np.float64]


def pair(looked: Looked, classes: int) -> Paired:
    """Put the places of a picture beside its labels, the surest and nearest first."""
    found = places(looked.found, classes)
    overlap = matching.overlaps(looked.labels, found.boxes)
    worth = np.where(overlap >= NEAR, overlap * (0.1 + found.best), 0.0)
    pairs = _greedy(worth)
    shown = {label for label, _ in pairs}
    used = {place for _, place in pairs}
    near = _nearness(looked.labels, found.boxes) * (found.best >= SURE)
    near[sorted(shown)], near[:, sorted(used)] = 0, 0
    slipped = _greedy(near)
    touching = (overlap >= TOUCHES) | (_inside(found.boxes, looked.labels).T >= INSIDE)
    taken = np.isin(np.arange(len(found)), [*used, *(place for _, place in slipped)])
    support = np.where(touching & ~taken, found.best, 0.0).max(axis=1, initial=0.0)
    return Paired(
        found,
        looked.labels,
        pairs,
        slipped,
        np.flatnonzero(~touching.any(axis=0) & ~taken),
        support,
        overlap,
    )


def places(found: Floats, classes: int) -> Places:
    """Finds that overlap by half are one place, which lies where the surest of them does."""
    order = np.argsort(-found[:, 4], kind="stable")
    rows = np.asarray(found, np.float64)[order]
    overlap = matching.overlaps(rows, rows)
    owner = np.full(len(rows), -1, np.int64)
    for row in range(len(rows)):
        if owner[row] < 0:
            owner[(overlap[row] >= SAME) & (owner < 0)] = row
    first = np.unique(owner)
    scores = np.zeros((len(first), classes))
    np.maximum.at(scores, (np.searchsorted(first, owner), rows[:, 5].astype(np.int64)), rows[:, 4])
    return Places(rows[first, :4], scores)


def sides(boxes: Floats) -> NDArray[np.float64]:
    """The side of a square as large as each box."""
    return np.sqrt(np.maximum(matching.areas(boxes), 1.0))


def _greedy(worth: NDArray[np.float64]) -> tuple[Pair, ...]:
    """Pairs by their worth, each row and column used once."""
    left, pairs = worth.copy(), []
    while left.size and left.max() > 0:
        row, column = np.unravel_index(int(left.argmax()), left.shape)
        pairs.append((int(row), int(column)))
        left[row], left[:, column] = 0, 0
    return tuple(pairs)


def _nearness(a: Floats, b: Floats) -> NDArray[np.float64]:
    """1 where two boxes have one middle, falling to 0 where they are too far apart."""
    apart = _middles(a)[:, None] - _middles(b)[None]
    reach = np.maximum(_longer(a)[:, None], _longer(b)[None]) * AWAY
    return np.asarray(np.clip(1 - np.abs(apart).max(axis=2, initial=0) / reach, 0, None))


def _middles(boxes: Floats) -> NDArray[np.float64]:
    return np.asarray((boxes[:, :2] + boxes[:, 2:4]) / 2)


def _longer(boxes: Floats) -> NDArray[np.float64]:
    return np.asarray((boxes[:, 2:4] - boxes[:, :2]).max(axis=1, initial=1.0), np.float64)


def _inside(a: Floats, b: Floats) -> NDArray[np.float64]:
    """The share of each box of `a` that lies in each of `b`."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:4], b[None, :, 2:4])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    return np.asarray(shared / np.maximum(matching.areas(a), 1e-9)[:, None])
