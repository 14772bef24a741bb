"""Average precision: detections of a class over many images, ranked and judged at several IoUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend import matching

Floats = NDArray[np.float64]
RECALLS: Floats = np.linspace(0, 1, 101)
TINY = float(np.spacing(1))


@dataclass(frozen=True, slots=True)
class Weighed:
    """One image: its detections (n, 6) and its truths (m, 5), columns as in `backend.matching`."""

    detections: NDArray[np.floating]
    truths: NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The detections of one class, best first over all images.

    `right` and `wrong` are (ious, detections); one that is neither does not count.
    `truths` counts the labelled boxes of each image.
    """

    scores: Floats
    image: NDArray[np.int64]
    right: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    truths: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and the score needed, at 101 recalls from 0 to 1."""

    precision: Floats
    score: Floats


def rank(
    images: Sequence[Weighed],
    index: int,
    ious: Sequence[float],
    area: tuple[float, float] | None = None,
    limit: int = 100,
) -> Ranking:
    """Judge all detections of one class; truths outside of `area` neither help nor harm."""
    parts = [_judge(image, index, ious, area, limit) for image in images]
    sizes = [len(scores) for scores, _, _, _ in parts]
    scores = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0)
    order = np.argsort(-scores, kind="stable")
    empty = np.zeros((len(ious), 0), np.bool_)
    return Ranking(
        scores[order],
        np.repeat(np.arange(len(parts)), sizes)[order],
        np.concatenate([empty, *(part[1] for part in parts)], axis=1)[:, order],
        np.concatenate([empty, *(part[2] for part in parts)], axis=1)[:, order],
        np.array([part[3] for part in parts], np.int64),
    )


def average_precision(ranking: Ranking, weights: Floats | None = None) -> Floats:
    """AP at each IoU; NaN for a class without truths. `weights` say how often an image counts."""
    total = ranking.truths.sum() if weights is None else (weights * ranking.truths).sum()
    if not total:
        return np.full(len(ranking.right), np.nan)
    each = 1.0 if weights is None else weights[ranking.image]
    right, wrong = (ranking.right * each).cumsum(axis=1), (ranking.wrong * each).cumsum(axis=1)
    precision = _envelope(right / (right + wrong + TINY))
    recall = right / total
    return np.array(
        [
            _sample(p, np.searchsorted(r, RECALLS)).mean()
            for p, r in zip(precision, recall, strict=True)
        ]
    )


def curve(ranking: Ranking, at: int = 0) -> Curve:
    """The precision-recall curve at the `at`-th IoU."""
    right, wrong = ranking.right[at].cumsum(), ranking.wrong[at].cumsum()
    precision = _envelope(right / (right + wrong + TINY))
    places = np.searchsorted(right / max(1, ranking.truths.sum()), RECALLS)
    return Curve(_sample(precision, places), _sample(ranking.scores, places))


def operating_point(ranking: Ranking, at: int = 0) -> tuple[float, float, float, float]:
    """Score, precision, recall and F1 where F1 is best."""
    total = int(ranking.truths.sum())
    if not len(ranking.scores) or not total:
        return 0.0, 0.0, 0.0, 0.0
    right, wrong = ranking.right[at].cumsum(), ranking.wrong[at].cumsum()
    f1 = 2 * right / (right + wrong + total)
    best = int(f1.argmax())
    precision = right[best] / max(1, right[best] + wrong[best])
    return float(ranking.scores[best]), float(precision), right[best] / total, float(f1[best])


def _judge(
    image: Weighed,
    index: int,
    ious: Sequence[float],
    area: tuple[float, float] | None,
    limit: int,
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_], int]:
    rows = matching.best_first(image.detections, image.detections[:, 5] == index)[:limit]
    found = image.detections[rows]
    truths = image.truths[image.truths[:, 4] == index]
    ignored = _outside(truths, area)
    chosen = matching.assign(matching.overlaps(found, truths), ious, ignored)
    unmatched = chosen < 0
    right = ~unmatched & ~np.append(ignored, False)[chosen]
    wrong = unmatched & ~_outside(found, area)
    return found[:, 4].astype(np.float64), right, wrong, int((~ignored).sum())


def _outside(boxes: NDArray[np.floating], area: tuple[float, float] | None) -> NDArray[np.bool_]:
    if area is None:
        return np.zeros(len(boxes), np.bool_)
    sizes = matching.areas(boxes)
    return (sizes < area[0]) | (sizes > area[1])


def _envelope(precision: Floats) -> Floats:
    """Each precision raised to the best that follows it."""
    return np.maximum.accumulate(precision[..., ::-1], axis=-1)[..., ::-1]


def _sample(values: Floats, places: NDArray[np.int64]) -> Floats:
    """Values at places; nothing (0) beyond the last one."""
    return np.append(values, 0.0)[np.minimum(places, len(values))]
