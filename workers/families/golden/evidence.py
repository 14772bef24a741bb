"""What a trained detector says of each proposal, and the places that only the detector sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from backend import matching
from workers.families.base import Detections
from workers.families.golden.seeing import Seen

SAME = 0.33  # overlap from which both mean the same place
LEAST = 0.01  # score from which a place that only the detector sees is worth a proposal
MOST = 60  # such places a picture
NAMES = ("alone", "overlap", "sure")  # then a score for each class


def join(seen: Seen, found: Detections, classes: int) -> Seen:
    """The proposals with what the detector says of them, and its own behind them."""
    overlap = matching.overlaps(seen.boxes, found)
    same = overlap >= SAME
    alone = apart(found[(found[:, 4] >= LEAST) & ~same.any(axis=0)], MOST)
    ours = said(overlap, found, classes)
    theirs = said(matching.overlaps(alone, found), found, classes)
    ours[:, 0], theirs[:, 0] = 0, 1
    blank = np.zeros((len(alone), seen.rows.shape[1]), np.float32)
    bare = alone[:, :4] + np.array([seen.pad, seen.pad, -seen.pad, -seen.pad], np.float32)
    pulls = [_pull(seen.boxes, found, overlap * same), np.zeros((len(alone), 4))]
    return dataclasses.replace(
        seen,
        corners=np.concatenate([seen.corners, bare]),
        rows=np.vstack([np.hstack([seen.rows, ours]), np.hstack([blank, theirs])]),
        toward=np.concatenate(pulls),
    )


def renamed(found: Detections, theirs: Sequence[str], ours: Sequence[str]) -> Detections:
    """Detections by our class indices; what has another name is left out."""
    places = [ours.index(name) if name in ours else -1 for name in theirs]
    named = found.copy()
    named[:, 5] = np.array([*places, -1], np.float32)[found[:, 5].astype(np.int64)]
    return named[named[:, 5] >= 0]


def said(overlap: NDArray[np.float64], found: Detections, classes: int) -> NDArray[np.float32]:
    """(places, 3 + classes): the best overlap, the best score, and that of each class."""
    told = np.zeros((len(overlap), len(NAMES) + classes), np.float32)
    if overlap.size:
        told[:, 1] = overlap[:, found[:, 4] >= LEAST].max(axis=1, initial=0)
        place, row = np.nonzero(overlap >= SAME)
        column = len(NAMES) + found[row, 5].astype(np.int64)
        np.maximum.at(told, (place, column), found[row, 4])
        told[:, 2] = told[:, len(NAMES) :].max(axis=1)
    return told


def apart(found: Detections, most: int) -> Detections:
    """The best of those that overlap, whatever their class."""
    left = found[np.argsort(-found[:, 4], kind="stable")][: 4 * most]
    kept: list[NDArray[np.float32]] = []
    while len(left) and len(kept) < most:
        kept.append(left[0])
        left = left[matching.overlaps(left, left[:1])[:, 0] < SAME]
    return np.array(kept, np.float32).reshape(-1, 6)


def _pull(
    boxes: NDArray[np.float64], found: Detections, worth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """From each box to the detector's, as far as that is sure of it."""
    if not worth.size:
        return np.zeros((len(boxes), 4))
    worth = worth * found[:, 4]
    best = found[worth.argmax(axis=1)]
    sure = np.where(worth.max(axis=1) > 0, best[:, 4], 0)[:, None]
    return np.asarray(sure * (best[:, :4] - boxes), np.float64)
