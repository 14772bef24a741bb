"""The places that a detector finds, each with what differs from the golden there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backend import matching
from workers.families.base import Detections
from workers.families.golden import evidence, features
from workers.families.golden.features import Rows
from workers.families.golden.learning import LabelledProposals
from workers.families.golden.seeing import Seen

BESIDE = 2  # the overlap with the nearest difference, and how many are near
LEAST = 0.005  # the detector's score from which a place is judged
NEAR = 0.1  # overlap from which a difference belongs to a place
SAME = 0.33  # overlap from which a place shows a labelled box


def find(seen: Seen, found: Detections, classes: int) -> tuple[Detections, Rows]:
    """The best detection of every place, and a row of features: of the difference, and its own."""
    kept = evidence.apart(found[found[:, 4] >= LEAST], len(found))
    overlap = matching.overlaps(kept, seen.boxes)
    best = overlap.max(axis=1, initial=0)
    differs = np.zeros((len(kept), seen.rows.shape[1]), np.float32)
    near = np.flatnonzero(best >= NEAR)
    if len(near):
        differs[near] = seen.rows[overlap[near].argmax(axis=1)]
    beside = np.column_stack([best, (overlap >= NEAR).sum(axis=1)])
    told = evidence.said(matching.overlaps(kept, found), found, classes)
    return kept, np.hstack([differs, beside, told]).astype(np.float32)


def columns(classes: int) -> int:
    """How many features a place has."""
    return len(features.NAMES) + BESIDE + len(evidence.NAMES) + classes


def sure(rows: Rows, classes: int) -> Rows:
    """The detector's own score of each place."""
    return rows[:, -classes - 1]


def lesson(
    kept: Detections, rows: Rows, truths: NDArray[np.float64], classes: int, group: str
) -> LabelledProposals:
    """What the places of a labelled picture teach: a defect by its label, or a false call."""
    overlap = matching.overlaps(kept, truths)
    shown = matching.assign(overlap, (SAME,), np.zeros(len(truths), np.bool_))[0]
    outcomes = np.full(len(kept), classes, np.int64)
    outcomes[shown >= 0] = truths[shown[shown >= 0], 4].astype(np.int64)
    none = np.zeros((0, 4))
    return LabelledProposals(rows, outcomes, np.zeros(0, np.int64), none, none, group)
