"""What labels teach: which proposals are defects and of which class, and how boxes are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend import matching
from workers.models.golden import features, forest, judging, names
from workers.models.golden.features import Rows
from workers.models.golden.judging import Calibration, Judge
from workers.models.golden.seeing import Seen

SAME = 0.33  # overlap from which a proposal shows a labelled box
NEAR = 0.1  # overlap from which it is no proof of a false call either
UNSURE = -1
FOLDS = 5
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
WORTH = 3.0  # labels that a class's name is worth in saying which kind it is
HABIT = 20.0  # boxes that the usual margin is worth


@dataclass(frozen=True, slots=True)
class Lesson:
    """One labelled picture: its proposals, what each turned out to be, and how far off it was."""

    rows: Rows
    outcomes: NDArray[np.int64]  # a class, the number of classes where nothing is wrong, or UNSURE
    margins: NDArray[np.float64]  # (matched, 4): labelled corners minus the usual box's
    group: str


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned, and the figures that led there."""

    judge: Judge
    margins: NDArray[np.float64]
    figures: dict[str, float]


def lesson(seen: Seen, truths: NDArray[np.float64], classes: int, group: str) -> Lesson:
    """What a labelled picture teaches; truths are x1, y1, x2, y2, class index."""
    outcomes = np.full(len(seen.rows), classes, np.int64)
    margins = np.zeros((0, 4))
    if len(seen.rows) and len(truths):
        overlap = np.maximum(
            matching.overlaps(seen.boxes, truths), matching.overlaps(seen.corners, truths)
        )
        outcomes[overlap.max(axis=1) >= NEAR] = UNSURE
        pairs = _pairs(overlap)
        outcomes[pairs[:, 0]] = truths[pairs[:, 1], 4].astype(np.int64)
        margins = truths[pairs[:, 1], :4] - seen.boxes[pairs[:, 0]]
    return Lesson(seen.rows, outcomes, margins, group)


def learn(lessons: Sequence[Lesson], classes: Sequence[str], seed: int) -> Learned:
    """The judge that cross-validation over pictures likes best."""
    sure = [each.outcomes != UNSURE for each in lessons]
    rows = np.concatenate([each.rows[s] for each, s in zip(lessons, sure, strict=True)])
    outcomes = np.concatenate([each.outcomes[s] for each, s in zip(lessons, sure, strict=True)])
    folds = _folds([each.group for each in lessons], seed).repeat([int(s.sum()) for s in sure])
    kinds = _kinds(rows, outcomes, classes)
    say = judging.by_rules(rows, kinds)
    weight, calibration, figures = 0.0, Calibration(), {}
    guesses = _held_out(rows, outcomes, folds, len(classes), seed)
    if guesses is not None:
        mixes = {each: judging.mixed(say, guesses, each) for each in WEIGHTS}
        worth = {each: _precision(mixes[each], outcomes) for each in WEIGHTS}
        weight = max(WEIGHTS, key=lambda each: (round(worth[each], 3), -abs(each - 0.5)))
        calibration = _calibrated(mixes[weight], outcomes)
        figures = {"ap": worth[weight], "ap_rules": worth[0.0], "ap_forest": worth[1.0]}
    grown = forest.grow(rows, outcomes, len(classes) + 1, seed) if weight > 0 else None
    margins = np.concatenate([each.margins for each in lessons])
    return Learned(
        Judge(kinds, grown, weight, calibration),
        _margins(margins),
        {**figures, "weight": weight, "pictures": len(lessons), "proposals": len(rows)},
    )


def _pairs(overlap: NDArray[np.float64]) -> NDArray[np.int64]:
    """Proposals and truths that belong together, the best overlap first, each used once."""
    left, pairs = overlap.copy(), []
    while left.size and left.max() >= SAME:
        row, column = np.unravel_index(int(left.argmax()), left.shape)
        pairs.append((int(row), int(column)))
        left[row], left[:, column] = 0, 0
    return np.array(pairs, np.int64).reshape(-1, 2)


def _folds(groups: Sequence[str], seed: int) -> NDArray[np.int64]:
    """A fold for each picture; pictures of one group stay together where there are enough."""
    known = sorted(set(groups))
    keys = [known.index(group) for group in groups] if len(known) >= FOLDS else range(len(groups))
    order = np.random.default_rng(seed).permutation(max(keys, default=-1) + 1)
    return np.asarray([order[key] % FOLDS for key in keys], np.int64)


def _kinds(rows: Rows, outcomes: NDArray[np.int64], classes: Sequence[str]) -> NDArray[np.float32]:
    """Which class each kind of the rules is: by its name, then by what was labelled so."""
    table = names.table(classes) * WORTH
    for index in range(len(classes)):
        table[:, index] += features.votes(rows[outcomes == index]).sum(axis=0)
    return np.asarray(table / table.sum(axis=1, keepdims=True), np.float32)


def _held_out(
    rows: Rows, outcomes: NDArray[np.int64], folds: NDArray[np.int64], classes: int, seed: int
) -> Rows | None:
    """What forests say of proposals they never saw; None where there is too little to learn."""
    if len(set(folds.tolist())) < 2 or len(set(outcomes.tolist())) < 2:
        return None
    guesses = np.zeros((len(rows), classes + 1), np.float32)
    for fold in sorted(set(folds.tolist())):
        held = folds == fold
        grown = forest.grow(rows[~held], outcomes[~held], classes + 1, seed, forest.TREES // 2)
        guesses[held] = grown.chances(rows[held])
    return guesses


def _precision(says: Rows, outcomes: NDArray[np.int64]) -> float:
    """The mean over the classes of the area under precision against recall."""
    areas = []
    for index in sorted(set(outcomes.tolist()) - {says.shape[1] - 1}):
        right = (outcomes == index)[np.argsort(-says[:, index], kind="stable")]
        areas.append(float((right.cumsum() / np.arange(1, len(right) + 1))[right].mean()))
    return float(np.mean(areas))


def _calibrated(says: Rows, outcomes: NDArray[np.int64]) -> Calibration:
    """What makes the chance of a defect honest."""
    wrong = outcomes < says.shape[1] - 1
    return Calibration(*_line(judging.log_odds(1 - says[:, -1]), wrong.astype(np.float64)))


def _line(odds: NDArray[np.float64], wrong: NDArray[np.float64]) -> tuple[float, float]:
    """Logistic regression in one variable by Newton's steps, drawn towards slope 1, offset 0."""
    design = np.column_stack([odds, np.ones_like(odds)])
    line = start = np.array([1.0, 0.0])
    for _ in range(20):
        chance = 1 / (1 + np.exp(-(design @ line)))
        gradient = design.T @ (chance - wrong) + (line - start)
        curvature = design.T @ (design * (chance * (1 - chance))[:, None]) + np.eye(2)
        line = line - np.linalg.solve(curvature, gradient)
        line[0] = np.clip(line[0], 0.2, 5.0)
    return float(line[0]), float(line[1])


def _margins(seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """What people add on each side: the median of the labels, drawn towards nothing."""
    if not len(seen):
        return np.zeros(4)
    return np.asarray(len(seen) / (len(seen) + HABIT) * np.median(seen, axis=0))
