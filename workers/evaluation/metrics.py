"""What a detector is worth on labelled images: one report for every family and imported boxes.

`report` for one model, `compare` for two on the same images; `workers.evaluation.classes` has the
report of classifiers. All figures are plain numbers, lists and names, ready for JSON; None where a
class has no truth. AP is COCO's: 101 recalls, greedy matching, at most 100 detections an image and
class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend import matching
from workers.evaluation import average_precision
from workers.evaluation.average_precision import Ranking, Weighed

COCO_IOUS = tuple(float(round(x, 2)) for x in np.arange(0.5, 1.0, 0.05))
SIZES = {"small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10)}
BACKGROUND = "background"
Figures = dict[str, Any]


def report(
    images: Sequence[Weighed],
    classes: Sequence[str],
    iou: float = 0.5,
    resamples: int = 300,
    seed: int = 0,
) -> Figures:
    """Everything the Models page shows of one model: mAP at `iou`, at .5 and over .5:.95, and why.

    Keys: iou, images, truths, map, map50, map50_95, intervals (95 %, bootstrap over images),
    per_class, curves, confusion, sizes, score (where the mean F1 is best).
    """
    rankings = rank_all(images, len(classes), iou)
    score = best_score(rankings)
    return {
        "iou": iou,
        "images": len(images),
        "truths": sum(len(image.truths) for image in images),
        "score": score,
        **_headline(_summary(_precisions(rankings))),
        "intervals": _intervals(rankings, len(images), resamples, seed),
        "per_class": dict(zip(classes, map(_of_class, rankings), strict=True)),
        "curves": dict(zip(classes, map(_curve_of, rankings), strict=True)),
        "confusion": confusion(images, classes, iou, score),
        "sizes": {name: _of_size(images, len(classes), iou, area) for name, area in SIZES.items()},
    }


def compare(
    ours: Sequence[Weighed],
    theirs: Sequence[Weighed],
    classes: Sequence[str],
    iou: float = 0.5,
    resamples: int = 300,
    seed: int = 0,
) -> Figures:
    """How much better `ours` is than `theirs` on the same images, in the same order.

    Keys: map, map50, map50_95, per_class, each {difference, interval, better}; `better` is true
    or false where the 95 % interval leaves out zero, else None.
    """
    first, second = rank_all(ours, len(classes), iou), rank_all(theirs, len(classes), iou)
    draws = list(_draws(len(ours), resamples, seed))
    value = _precisions(first) - _precisions(second)
    drawn = [_precisions(first, w) - _precisions(second, w) for w in draws]
    names = ("map", "map50", "map50_95")
    overall = zip(*(_summary(precisions) for precisions in drawn), strict=True)
    figures = {
        name: _difference(was, list(seen))
        for name, was, seen in zip(names, _summary(value), overall, strict=True)
    }
    per_class = {
        name: _difference(float(value[i, 0]), [float(d[i, 0]) for d in drawn])
        for i, name in enumerate(classes)
    }
    return {**figures, "iou": iou, "per_class": per_class}


def rank_all(images: Sequence[Weighed], classes: int, iou: float) -> list[Ranking]:
    """One ranking a class; its first IoU is `iou`, the ten of COCO follow."""
    return [average_precision.rank(images, index, (iou, *COCO_IOUS)) for index in range(classes)]


def best_score(rankings: Sequence[Ranking]) -> float:
    """The one threshold for all classes at which the F1 over all boxes is best."""
    scores = np.concatenate([ranking.scores for ranking in rankings])
    if not len(scores):
        return 0.0
    order = np.argsort(-scores, kind="stable")
    right = np.concatenate([ranking.right[0] for ranking in rankings])[order].cumsum()
    total = sum(int(ranking.truths.sum()) for ranking in rankings)
    f1 = 2 * right / (np.arange(1, len(order) + 1) + total)
    return float(scores[order][int(f1.argmax())])


def confusion(
    images: Sequence[Weighed], classes: Sequence[str], iou: float, score: float
) -> Figures:
    """Rows are truths, columns detections of at least `score`; the last of each is background."""
    size = len(classes) + 1
    matrix = np.zeros((size, size), np.int64)
    for image in images:
        found = image.detections[image.detections[:, 4] >= score]
        matched = matching.confuse(found, image.truths, iou)
        columns = found[:, 5].astype(np.int64)
        truths = np.append(image.truths[:, 4].astype(np.int64), size - 1)
        np.add.at(matrix, (truths[matched.detections], columns), 1)
        matrix[:-1, -1] += np.bincount(truths[:-1][matched.truths < 0], minlength=len(classes))
    return {"labels": [*classes, BACKGROUND], "matrix": matrix.tolist(), "score": score}


def mean_difference(values: NDArray[np.float64], resamples: int = 300, seed: int = 0) -> Figures:
    """The mean of differences picture by picture: {difference, interval, better}."""
    if not len(values):
        return _difference(math.nan, [])
    drawn = [float(w @ values / w.sum()) for w in _draws(len(values), resamples, seed)]
    return _difference(float(values.mean()), drawn)


def _precisions(
    rankings: Sequence[Ranking], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """AP by class and IoU."""
    rows = [average_precision.average_precision(ranking, weights) for ranking in rankings]
    return np.array(rows).reshape(-1, 1 + len(COCO_IOUS))


def _summary(precisions: NDArray[np.float64]) -> tuple[float, float, float]:
    """mAP at the chosen IoU, at .5, and over .5:.95, over the classes that have truths."""
    known = precisions[~np.isnan(precisions[:, 0])]
    if not len(known):
        return math.nan, math.nan, math.nan
    return float(known[:, 0].mean()), float(known[:, 1].mean()), float(known[:, 1:].mean())


def _headline(summary: tuple[float, float, float]) -> Figures:
    return dict(zip(("map", "map50", "map50_95"), map(_number, summary), strict=True))


def _intervals(rankings: Sequence[Ranking], images: int, resamples: int, seed: int) -> Figures:
    drawn = [
        _summary(_precisions(rankings, weights)) for weights in _draws(images, resamples, seed)
    ]
    names = ("map", "map50", "map50_95")
    return {name: _interval([values[i] for values in drawn]) for i, name in enumerate(names)}


def _of_class(ranking: Ranking) -> Figures:
    precision = average_precision.average_precision(ranking)
    score, exact, recall, f1 = average_precision.operating_point(ranking)
    return {
        "truths": int(ranking.truths.sum()),
        "ap": _number(float(precision[0])),
        "ap50": _number(float(precision[1])),
        "ap50_95": _number(float(precision[1:].mean())),
        "score": score,
        "precision": exact,
        "recall": recall,
        "f1": f1,
    }


def _curve_of(ranking: Ranking) -> Mapping[str, list[float]]:
    drawn = average_precision.curve(ranking)
    return {
        "recall": [round(float(x), 2) for x in average_precision.RECALLS],
        "precision": [round(float(x), 4) for x in drawn.precision],
        "score": [round(float(x), 4) for x in drawn.score],
    }


def _of_size(
    images: Sequence[Weighed], classes: int, iou: float, area: tuple[float, float]
) -> Figures:
    ious = (iou, *COCO_IOUS)
    rankings = [average_precision.rank(images, index, ious, area) for index in range(classes)]
    truths = sum(int(ranking.truths.sum()) for ranking in rankings)
    return {"truths": truths, **_headline(_summary(_precisions(rankings)))}


def _draws(images: int, resamples: int, seed: int) -> list[NDArray[np.float64]]:
    """How often each image is drawn, in each resample of as many images."""
    if not images:
        return []
    random = np.random.default_rng(seed)
    chances = np.full(images, 1 / images)
    return [random.multinomial(images, chances).astype(np.float64) for _ in range(resamples)]


def _difference(value: float, drawn: Sequence[float]) -> Figures:
    interval = _interval(drawn)
    better = None
    if interval and (interval[0] > 0 or interval[1] < 0):
        better = interval[0] > 0
    return {"difference": _number(value), "interval": interval, "better": better}


def _interval(drawn: Sequence[float]) -> list[float] | None:
    """The middle 95 % of what the resamples gave."""
    known = [value for value in drawn if not math.isnan(value)]
    return [float(x) for x in np.quantile(known, (0.025, 0.975))] if known else None


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
