"""What labels teach: which proposals are defects and of which class, and how boxes are drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend import matching
from workers.families.golden import edges, features, forest, likelihood, names
from workers.families.golden.edges import Edges, Steps
from workers.families.golden.features import Rows
from workers.families.golden.likelihood import Calibration, Likelihood
from workers.families.golden.seeing import Seen

SAME = 0.33  # overlap from which a proposal shows a labelled box
NEAR = 0.1  # from which it is no proof of a false call, unless another shows the box better
UNSURE = -1
FOLDS = 5
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
CLEARLY = 0.005  # mean average precision by which another mix must be better
WORTH = 3.0  # labels that a class's name is worth in saying which kind it is


@dataclass(frozen=True, slots=True)
class LabelledProposals:
    """One labelled picture: its proposals, what each turned out to be, and how far off it was."""

    rows: Rows
    outcomes: NDArray[np.int64]  # a class, the number of classes where nothing is wrong, or UNSURE
    hits: NDArray[np.int64]  # the proposals that show a labelled box
    drawn: Steps  # from the usual box of each of these to the labelled one
    pulls: Steps  # and to a detector's
    group: str


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned, and the figures that led there."""

    judge: Likelihood
    edges: Edges
    figures: dict[str, float]


def lesson(seen: Seen, truths: NDArray[np.float64], classes: int, group: str) -> LabelledProposals:
    """What a labelled picture teaches; truths are x1, y1, x2, y2, class index."""
    outcomes = np.full(len(seen.rows), classes, np.int64)
    hits, drawn = np.zeros(0, np.int64), np.zeros((0, 4))
    if len(seen.rows) and len(truths):
        overlap = np.maximum(
            matching.overlaps(seen.boxes, truths), matching.overlaps(seen.corners, truths)
        )
        hits, labelled = _pairs(overlap).T
        missed = np.delete(overlap, labelled, axis=1)
        outcomes[missed.max(axis=1, initial=0) >= NEAR] = UNSURE
        outcomes[hits] = truths[labelled, 4].astype(np.int64)
        drawn = truths[labelled, :4] - seen.boxes[hits]
    return LabelledProposals(seen.rows, outcomes, hits, drawn, seen.pulls[hits], group)


def once_more(first: LabelledProposals, etched: LabelledProposals) -> LabelledProposals:
    """A picture beside its etched copy, which says nothing of how boxes are drawn."""
    outcomes = np.concatenate([first.outcomes, etched.outcomes])
    return dataclasses.replace(
        first, rows=np.concatenate([first.rows, etched.rows]), outcomes=outcomes
    )


def learn(lessons: Sequence[LabelledProposals], classes: Sequence[str], seed: int) -> Learned:
    """The judge that cross-validation over pictures likes best."""
    sure = [each.outcomes != UNSURE for each in lessons]
    rows = np.concatenate([each.rows[s] for each, s in zip(lessons, sure, strict=True)])
    outcomes = np.concatenate([each.outcomes[s] for each, s in zip(lessons, sure, strict=True)])
    places = in_folds([each.group for each in lessons], seed)
    folds = places.repeat([int(each.sum()) for each in sure])
    kinds = _kinds(rows, outcomes, classes)
    say = likelihood.by_rules(rows, kinds)
    weight, calibration, figures = 0.0, Calibration(), {}
    guesses = held_out(rows, outcomes, folds, len(classes), seed)
    if guesses is not None:
        mixes = {each: likelihood.mixed(say, guesses, each) for each in WEIGHTS}
        worth = {each: _precision(mixes[each], outcomes) for each in WEIGHTS}
        weight = weighed(worth, int((outcomes < len(classes)).sum()))
        calibration = _calibrated(mixes[weight], outcomes)
        figures = {"ap": worth[weight], "ap_rules": worth[0.0], "ap_forest": worth[1.0]}
    grown = forest.grow(rows, outcomes, len(classes) + 1, seed) if weight > 0 else None
    return Learned(
        Likelihood(kinds, grown, weight, calibration),
        _edges(lessons, places, seed),
        {**figures, "weight": weight, "pictures": len(lessons), "proposals": len(rows)},
    )


def weighed(worth: Mapping[float, float], defects: int) -> float:
    """Half and half, unless cross-validation clearly likes another mix.

    One defect behind one false call is chance; and a little more is due to this lot only, as the
    forest has seen others of it: on boards of the next one half and half does better.
    """
    good = max(worth.values()) - max(CLEARLY, 1 / max(1, defects))
    return min((each for each in WEIGHTS if worth[each] >= good), key=lambda each: abs(each - 0.5))


def in_folds(groups: Sequence[str], seed: int) -> NDArray[np.int64]:
    """A fold for each picture; pictures of one group stay together where there are enough."""
    known = sorted(set(groups))
    keys = [known.index(group) for group in groups] if len(known) >= FOLDS else range(len(groups))
    order = np.random.default_rng(seed).permutation(max(keys, default=-1) + 1)
    return np.asarray([order[key] % FOLDS for key in keys], np.int64)


def held_out(
    rows: Rows, outcomes: NDArray[np.int64], folds: NDArray[np.int64], classes: int, seed: int
) -> Rows | None:
    """What forests say of proposals they never saw; None where there is too little to learn."""
    if len(set(folds.tolist())) < 2 or len(set(outcomes.tolist())) < 2:
        return None
    guesses = np.zeros((len(rows), classes + 1), np.float32)
    for fold in sorted(set(folds.tolist())):
        held = folds == fold
        grown = forest.grow(rows[~held], outcomes[~held], classes + 1, seed, forest.TREES // 2)
        guesses[held] = grown.says(rows[held])
    return guesses


def _edges(lessons: Sequence[LabelledProposals], folds: NDArray[np.int64], seed: int) -> Edges:
    return edges.learn(
        np.concatenate([each.rows[each.hits] for each in lessons]),
        np.concatenate([each.pulls for each in lessons]),
        np.concatenate([each.drawn for each in lessons]),
        folds.repeat([len(each.hits) for each in lessons]),
        seed,
    )


def _pairs(overlap: NDArray[np.float64]) -> NDArray[np.int64]:
    """Proposals and truths that belong together, the best overlap first, each used once."""
    left, pairs = overlap.copy(), []
    while left.size and left.max() >= SAME:
        row, column = np.unravel_index(int(left.argmax()), left.shape)
        pairs.append((int(row), int(column)))
        left[row], left[:, column] = 0, 0
    return np.array(pairs, np.int64).reshape(-1, 2)


def _kinds(rows: Rows, outcomes: NDArray[np.int64], classes: Sequence[str]) -> NDArray[np.float32]:
    """Which class each kind of the rules is: by its name, then by what was labelled so."""
    table = names.table(classes) * WORTH
    for index in range(len(classes)):
        table[:, index] += features.votes(rows[outcomes == index]).sum(axis=0)
    return np.asarray(table / table.sum(axis=1, keepdims=True), np.float32)


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
    return Calibration(*_line(likelihood.log_odds(1 - says[:, -1]), wrong.astype(np.float64)))


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
