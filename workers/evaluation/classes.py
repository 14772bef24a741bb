"""What a classifier is worth on labelled pictures: accuracy, top-k, each class, the confusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.intervals import wilson
from workers.evaluation import calibration

Figures = dict[str, Any]
TOP = (3, 5)


def report(
    truths: Sequence[int],
    scores: NDArray[np.floating],
    classes: Sequence[str],
    *,
    chances: bool = True,
) -> Figures:
    """The figures of a classifier; `scores` is (images, classes).

    Where these are no `chances` of all classes but one answer a picture, what needs them is left
    out: top-k and calibration.

    Keys: images, accuracy, interval (95 %, Wilson), top3 and top5 where there are more classes,
    macro_f1, per_class (None where nothing is counted), confusion (rows are truths), ece and
    reliability (`calibration.report`).
    """
    right = np.asarray(truths, np.int64)
    said = np.asarray(scores).reshape(len(right), len(classes))
    chosen = said.argmax(axis=1)
    matrix = np.zeros((len(classes), len(classes)), np.int64)
    np.add.at(matrix, (right, chosen), 1)
    hits = int((right == chosen).sum())
    per_class = {name: _rates(matrix, index) for index, name in enumerate(classes)}
    scored = [one["f1"] for one in per_class.values() if one["f1"] is not None]
    return {
        "images": len(right),
        "accuracy": hits / len(right) if len(right) else None,
        "interval": wilson(hits, len(right)),
        **(_of_chances(said, right) if chances else {}),
        "macro_f1": float(np.mean(scored)) if scored else None,
        "per_class": per_class,
        "confusion": {"labels": list(classes), "matrix": matrix.tolist()},
    }


def _of_chances(chances: NDArray[np.floating], right: NDArray[np.int64]) -> Figures:
    likeliest = chances.argmax(axis=1)
    sure = chances[np.arange(len(right)), likeliest]
    tops = {f"top{k}": _top(chances, right, k) for k in TOP if k < chances.shape[1]}
    return {**tops, **calibration.report(sure, likeliest == right)}


def _top(chances: NDArray[np.floating], right: NDArray[np.int64], most: int) -> float | None:
    """How often the true class is among the likeliest; of equal ones the first goes before."""
    if not len(right):
        return None
    likeliest = np.argsort(-chances, axis=1, kind="stable")[:, :most]
    return float((likeliest == right[:, None]).any(axis=1).mean())


def _rates(matrix: NDArray[np.int64], index: int) -> Figures:
    right, row, column = matrix[index, index], matrix[index].sum(), matrix[:, index].sum()
    return {
        "truths": int(row),
        "precision": float(right / column) if column else None,
        "recall": float(right / row) if row else None,
        "f1": float(2 * right / (row + column)) if row + column else None,
    }
