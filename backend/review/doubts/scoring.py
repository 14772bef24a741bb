"""Which labels are likely wrong, the likeliest first: rows of numbers in, doubts out.

A doubt is the surer, the more rarely labels and model differ where they differ here: how often
they do is learned from all pictures, by the score, the size and the class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from backend.review.doubts import pairing, rates
from backend.review.doubts.pairing import Looked, Paired

USUAL = 0.01  # of labels are wrong in each way, before anything is known
TINY = 1e-4
FAINT = 1e-3  # certainty below which nobody is told
STILL = 2.0  # by how much less a label is in doubt the better it still lies (as log odds)
SLIPPED = 1.0  # by how much a label that slipped is surer than what is alone (as log odds)

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


class Kind(StrEnum):
    """What may be wrong: no label, one too many, one of another class, one that lies badly."""

    MISSING = "missing"
    SPURIOUS = "spurious"
    CLASS = "class"
    LOOSE = "loose"


@dataclass(frozen=True, slots=True)
class Doubt:
    """One label in doubt: its place among those of its picture, or -1, and what was found there."""

    picture: int
    kind: Kind
    certainty: float
    label: int = -1
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    index: int = -1  # the class that was found
    score: float = 0.0


def doubts(pictures: Sequence[Looked], classes: int) -> list[Doubt]:
    """All there is to doubt, the surest first; each label once."""
    paired = [pairing.pair(one, classes) for one in pictures]
    if not paired or not classes:
        return []
    # There may be millions of places, of which few are doubtful; only those are kept.
    every = chain(_alone(paired, classes), _shown(paired, classes))
    found = [one for one in every if one.certainty >= FAINT]
    found.sort(key=lambda one: -one.certainty)
    kept, told = [], set[tuple[int, int]]()
    for one in found:
        if one.label < 0 or (one.picture, one.label) not in told:
            kept.append(one)
            told.add((one.picture, one.label))
    return kept


def _alone(paired: Sequence[Paired], classes: int) -> Iterator[Doubt]:
    """Labels that nothing shows, places that show no label, and one slipped from the other."""
    of_labels, labels = _label_rates(paired, classes)
    of_places, places = _place_rates(paired, classes)
    for number, one in enumerate(paired):
        beside = {label: place for label, place in one.slipped}
        shown = {label for label, _ in one.pairs}
        for label in range(len(one.labels)):
            if label in beside:
                place = beside[label]
                odds = max(of_labels[labels[number] + label], of_places[places[number] + place])
                yield _of_place(number, one, Kind.LOOSE, odds + SLIPPED, label, place)
            elif label not in shown:
                odds = of_labels[labels[number] + label]
                yield Doubt(number, Kind.SPURIOUS, _certain(odds), label)
        for place in one.alone:
            odds = of_places[places[number] + place]
            yield _of_place(number, one, Kind.MISSING, odds, -1, int(place))


def _shown(paired: Sequence[Paired], classes: int) -> Iterator[Doubt]:
    """Labels whose place says another class, or lies otherwise."""
    rows = [(number, *pair) for number, one in enumerate(paired) for pair in one.pairs]
    if not rows:
        return
    said = np.array([paired[n].places.scores[place] for n, _, place in rows])
    own = np.array([int(paired[n].labels[label, 4]) for n, label, _ in rows])
    boxes = np.array([paired[n].places.boxes[place] for n, _, place in rows])
    overlap = np.array([paired[n].overlap[label, place] for n, label, place in rows])
    of_class = _class_odds(said, own, boxes, classes)
    of_edges = _edge_odds(overlap, said, own, boxes, classes)
    for at, (number, label, place) in enumerate(rows):
        one = paired[number]
        if said[at].argmax() != own[at]:
            yield _of_place(number, one, Kind.CLASS, of_class[at], label, place)
        yield _of_place(number, one, Kind.LOOSE, of_edges[at], label, place)


def _label_rates(paired: Sequence[Paired], classes: int) -> tuple[Values, list[int]]:
    """The odds that a label which nothing shows is none, for every label, by its number."""
    labels = np.concatenate([one.labels for one in paired])
    shown = [{label for label, _ in one.pairs} for one in paired]
    lone = np.array(
        [at not in shown[n] for n, one in enumerate(paired) for at in range(len(one.labels))]
    )
    support = np.concatenate([one.support for one in paired])
    weak = np.where(lone, rates.log_odds(support), 0.0)
    looks = _looks(pairing.sides(labels), labels[:, 4].astype(np.int64), classes)
    odds = _odds(rates.rates(looks, lone)) - np.where(lone, np.clip(weak + 5, 0, None) / 2, 0.0)
    return odds, _starts([len(one.labels) for one in paired])


def _place_rates(paired: Sequence[Paired], classes: int) -> tuple[Values, list[int]]:
    """The odds that a place which shows no label should have one, for every place."""
    boxes = np.concatenate([one.places.boxes for one in paired])
    best = np.concatenate([one.places.best for one in paired])
    kinds = np.concatenate([one.places.kinds for one in paired])
    lone = np.ones(len(boxes), np.bool_)
    starts = _starts([len(one.places) for one in paired])
    for start, one in zip(starts, paired, strict=True):
        lone[[start + place for _, place in one.pairs]] = False
    looks = _looks(pairing.sides(boxes), kinds, classes, rates.log_odds(best))
    return _odds(rates.rates(looks, lone)), starts


def _class_odds(said: Values, own: Numbers, boxes: Values, classes: int) -> Values:
    """The odds that a label which its place calls otherwise is of another class."""
    best, kinds = said.max(axis=1), said.argmax(axis=1)
    share = best / np.maximum(said.sum(axis=1), TINY)
    sure = rates.log_odds(share), rates.log_odds(best)
    looks = _looks(pairing.sides(boxes), kinds, classes, *sure)
    return _odds(rates.rates(looks, kinds != own))


def _edge_odds(overlap: Values, said: Values, own: Numbers, boxes: Values, classes: int) -> Values:
    """The odds that a label lies badly: by how few lie worse, of their size and class.

    One that overlaps its place by more than half still shows it.
    """
    looks = _looks(pairing.sides(boxes), own, classes, rates.log_odds(said.max(axis=1)))
    lies = rates.log_odds(overlap)
    return np.asarray(_odds(rates.worse(looks, lies)) - STILL * np.clip(lies, 0, None))


def _looks(sides: Values, kinds: Numbers, classes: int, *more: Values) -> Values:
    """What the rates are learned by."""
    size = np.log(sides / max(1.0, float(np.median(sides)))) if len(sides) else sides
    each = np.eye(classes)[kinds] if classes > 1 else np.zeros((len(sides), 0))
    return np.column_stack([np.ones(len(sides)), size, size**2, *more, each])


def _odds(rate: Values) -> Values:
    return np.asarray(np.log(USUAL) - np.log(np.maximum(rate, TINY)))


def _certain(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def _starts(counts: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(counts, dtype=int).tolist()][:-1]


def _of_place(number: int, one: Paired, kind: Kind, odds: float, label: int, place: int) -> Doubt:
    x1, y1, x2, y2 = one.places.boxes[place].tolist()
    index = int(one.places.kinds[place])
    score = float(one.places.best[place])
    return Doubt(number, kind, _certain(odds), label, (x1, y1, x2, y2), index, score)
