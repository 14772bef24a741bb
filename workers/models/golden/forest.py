"""A forest of extremely random trees as arrays: grown by scikit-learn, read by numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.models.golden.features import Rows

TREES = 200


@dataclass(frozen=True, slots=True)
class Forest:
    """All nodes of all trees in one list; a leaf names itself as both of its children."""

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]  # (nodes, outcomes): how often each outcome ended here
    depth: int

    def chances(self, rows: Rows) -> Rows:
        """How likely each outcome is, as the mean over the trees."""
        place = np.arange(len(rows))[:, None]
        node = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _ in range(self.depth):
            goes_left = rows[place, self.feature[node]] <= self.threshold[node]
            node = np.where(goes_left, self.left[node], self.right[node])
        return np.asarray(self.value[node].mean(axis=1), np.float32)


def grow(
    rows: Rows, outcomes: NDArray[np.int64], count: int, seed: int, trees: int = TREES
) -> Forest:
    """A forest that tells `count` outcomes apart, of which some may not occur."""
    from sklearn.ensemble import ExtraTreesClassifier  # slow to import, and only needed here

    grown = ExtraTreesClassifier(trees, random_state=seed, n_jobs=1).fit(rows, outcomes)
    known = grown.classes_.astype(np.int64)
    parts = [tree.tree_ for tree in grown.estimators_]
    sizes = np.array([part.node_count for part in parts])
    starts = np.concatenate([[0], sizes.cumsum()[:-1]])
    value = np.zeros((int(sizes.sum()), count), np.float32)
    for start, part in zip(starts, parts, strict=True):
        shares = part.value[:, 0, :]
        value[start : start + part.node_count, known] = shares / shares.sum(axis=1, keepdims=True)
    return Forest(
        starts.astype(np.int32),
        np.maximum(np.concatenate([part.feature for part in parts]), 0).astype(np.int32),
        np.concatenate([part.threshold for part in parts]).astype(np.float64),
        _children([part.children_left for part in parts], starts),
        _children([part.children_right for part in parts], starts),
        value,
        max(part.max_depth for part in parts),
    )


def _children(parts: list[NDArray[np.int64]], starts: NDArray[np.int64]) -> NDArray[np.int32]:
    moved = [
        np.where(part < 0, np.arange(len(part)), part) + start
        for part, start in zip(parts, starts, strict=True)
    ]
    return np.concatenate(moved).astype(np.int32)
