"""Which detection found which labelled box: greedy by score, exactly as COCO's tools do it.

Detections are rows x1, y1, x2, y2, score, class; truths are rows x1, y1, x2, y2, class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.domain import Box, Detection

Floats = NDArray[np.floating]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matched:
    """`detections[i]` is the truth that detection i found, `truths[j]` who found it; or -1."""

    detections: Indices
    truths: Indices

    @property
    def found(self) -> int:
        """Detections that are right."""
        return int((self.detections >= 0).sum())

    @property
    def false_calls(self) -> int:
        """Detections where there is nothing."""
        return int((self.detections < 0).sum())

    @property
    def missed(self) -> int:
        """Truths that no detection found."""
        return int((self.truths < 0).sum())


def overlaps(a: Floats, b: Floats) -> NDArray[np.float64]:
    """Intersection over union of every box of `a` with every box of `b`."""
    a, b = np.asarray(a[:, :4], np.float64), np.asarray(b[:, :4], np.float64)
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared: NDArray[np.float64] = np.clip(high - low, 0, None).prod(axis=2)
    union = areas(a)[:, None] + areas(b)[None, :] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def areas(boxes: Floats) -> NDArray[np.float64]:
    """Width times height."""
    boxes = np.asarray(boxes[:, :4], np.float64)
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def assign(overlap: NDArray[np.float64], ious: Sequence[float], ignored: Flags) -> Indices:
    """The truth of each detection (rows, best first) at each IoU, or -1: shape (ious, detections).

    Each truth is found once; an ignored truth only by a detection with no other truth to find.
    """
    least = np.minimum(np.asarray(ious, np.float64), 1 - 1e-10)
    result = np.full((len(least), overlap.shape[0]), -1, np.int64)
    if not overlap.size:
        return result
    free = np.ones((len(least), overlap.shape[1]), np.bool_)
    for row in np.flatnonzero(overlap.max(axis=1) >= least.min()):
        fits = free & (overlap[row] >= least[:, None])
        regular = fits & ~ignored
        fits = np.where(regular.any(axis=1, keepdims=True), regular, fits)
        chosen = _last_best(np.where(fits, overlap[row], -1.0))
        hit = np.flatnonzero(fits.any(axis=1))
        result[hit, row] = chosen[hit]
        free[hit, chosen[hit]] = False
    return result


def match(detections: Floats, truths: Floats, iou: float = 0.5) -> Matched:
    """Match the detections of one image, class by class; they need not be sorted."""
    result = Matched(np.full(len(detections), -1, np.int64), np.full(len(truths), -1, np.int64))
    for index in np.unique(truths[:, 4]) if len(truths) else ():
        rows = best_first(detections, detections[:, 5] == index)
        columns = np.flatnonzero(truths[:, 4] == index)
        _pair(result, detections, truths, rows, columns, iou)
    return result


def confuse(detections: Floats, truths: Floats, iou: float = 0.5) -> Matched:
    """Match within the classes first, then what is left across classes: one class for another."""
    result = match(detections, truths, iou)
    rows = best_first(detections, result.detections < 0)
    _pair(result, detections, truths, rows, np.flatnonzero(result.truths < 0), iou)
    return result


def match_boxes(detections: Sequence[Detection], boxes: Sequence[Box], iou: float = 0.5) -> Matched:
    """Match the detections of one image with its labels, by the names of their classes."""
    names = sorted({d.label for d in detections} | {b.label for b in boxes})
    index = {name: position for position, name in enumerate(names)}
    rows = [(d.x1, d.y1, d.x2, d.y2, d.score, index[d.label]) for d in detections]
    columns = [(b.x1, b.y1, b.x2, b.y2, index[b.label]) for b in boxes]
    return match(
        np.array(rows, np.float64).reshape(-1, 6), np.array(columns, np.float64).reshape(-1, 5), iou
    )


def false_calls(found: Floats, false: Floats, defects: int, escapes: float) -> int | None:
    """How many stand at the highest score at which no larger share of the defects escapes.

    `found` are the scores of the defects that were found, `false` those of what is none; None where
    more escape however low the score.
    """
    needed = math.ceil(round(defects * (1 - escapes), 6))
    if not 0 < needed <= len(found):
        return None
    return int((false >= np.sort(found)[-needed]).sum())


def best_first(detections: Floats, chosen: Flags) -> Indices:
    """The indices of the chosen detections, best score first, equal ones in their order."""
    rows = np.flatnonzero(chosen)
    return rows[np.argsort(-detections[rows, 4], kind="stable")]


def _pair(
    result: Matched, detections: Floats, truths: Floats, rows: Indices, columns: Indices, iou: float
) -> None:
    overlap = overlaps(detections[rows], truths[columns])
    chosen = assign(overlap, (iou,), np.zeros(len(columns), np.bool_))[0]
    hit = np.flatnonzero(chosen >= 0)
    result.detections[rows[hit]] = columns[chosen[hit]]
    result.truths[columns[chosen[hit]]] = rows[hit]


def _last_best(values: NDArray[np.float64]) -> Indices:
    """The column of each row's maximum; of equal ones the last, as COCO's loop leaves it."""
    columns: Indices = values.shape[1] - 1 - np.argmax(values[:, ::-1], axis=1)
    return columns
