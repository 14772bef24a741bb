"""Forests of extremely random trees as arrays: grown by scikit-learn, read by numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.families.golden.features import Rows

TREES = 200
EDGE_TREES, EDGE_LEAF = 60, 5


@dataclass(frozen=True, slots=True)
class Forest:
    """All nodes of all trees in one list; a leaf names itself as both of its children."""

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]  # (nodes, outcomes): how often each ended here; or means
    depth: int

    def says(self, rows: Rows) -> Rows:
        """How likely each outcome is, or each number, as the mean over the trees."""
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
    value = np.zeros((sum(part.node_count for part in parts), count), np.float32)
    shares = np.concatenate([part.value[:, 0, :] for part in parts])
    value[:, known] = shares / shares.sum(axis=1, keepdims=True)
    return _forest(parts, value)


def fit(rows: Rows, numbers: NDArray[np.float64], seed: int, trees: int = EDGE_TREES) -> Forest:
    """A forest that says several numbers of each row."""
    from sklearn.ensemble import ExtraTreesRegressor  # slow to import, and only needed here

    grown = ExtraTreesRegressor(
        trees, min_samples_leaf=EDGE_LEAF, max_features=0.5, random_state=seed, n_jobs=1
    ).fit(rows, numbers)
    parts = [tree.tree_ for tree in grown.estimators_]
    return _forest(parts, np.concatenate([part.value[:, :, 0] for part in parts]))


def _forest(parts: Sequence[Any], value: NDArray[np.generic]) -> Forest:
    sizes = np.array([part.node_count for part in parts])
    starts = np.concatenate([[0], sizes.cumsum()[:-1]])
    return Forest(
        starts.astype(np.int32),
        np.maximum(np.concatenate([part.feature for part in parts]), 0).astype(np.int32),
        np.concatenate([part.threshold for part in parts]).astype(np.float64),
        _children([part.children_left for part in parts], starts),
        _children([part.children_right for part in parts], starts),
        value.astype(np.float32),
        max(part.max_depth for part in parts),
    )


def _children(parts: list[NDArray[np.int64]], starts: NDArray[np.int64]) -> NDArray[np.int32]:
    moved = [
        np.where(part < 0, np.arange(len(part)), part) + start
        for part, start in zip(parts, starts, strict=True)
    ]
    return np.concatenate(moved).astype(np.int32)
