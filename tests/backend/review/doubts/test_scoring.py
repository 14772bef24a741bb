"""Labels that are wrong come first, each as what is wrong with it."""

from __future__ import annotations

import numpy as np
import pytest

from backend.review.doubts import pairing, rates, scoring
from backend.review.doubts.pairing import Looked
from backend.review.doubts.scoring import Doubt, Kind

CLASSES = 3
PLACES = ((10, 10), (110, 20), (30, 140), (150, 150))


def boards(number: int, seed: int = 3) -> list[Looked]:
    """Boards whose labels are right, as a model sees them: a little beside, now and then unsure."""
    draw = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        labels = [(x, y, x + 30, y + 24, draw.integers(CLASSES)) for x, y in PLACES]
        found = [
            (*(np.array(row[:4]) + draw.normal(0, 1.5, 4)), draw.uniform(0.6, 0.99), row[4])
            for row in labels
        ]
        found += [(60, 60, 80, 80, draw.uniform(0.02, 0.3), 1)]
        made.append(Looked(np.array(labels, float), np.array(found, float)))
    return made


def damaged(pictures: list[Looked]) -> list[Looked]:
    """Of the first four boards one label is removed, invented, called otherwise, moved."""
    labels = [one.labels.copy() for one in pictures]
    labels[0] = labels[0][1:]
    labels[1] = np.vstack([labels[1], [100, 100, 125, 130, 0]])
    labels[2][0, 4] = (labels[2][0, 4] + 1) % CLASSES
    labels[3][0, [0, 2]] += 18
    return [Looked(ours, one.found) for ours, one in zip(labels, pictures, strict=True)]


def test_what_is_wrong_comes_first() -> None:
    found = scoring.doubts(damaged(boards(60)), CLASSES)
    first = {one.picture: one.kind for one in found[:4]}
    assert first == {0: Kind.MISSING, 1: Kind.SPURIOUS, 2: Kind.CLASS, 3: Kind.LOOSE}
    assert found[3].certainty > 2 * found[4].certainty


def test_what_was_found_instead_is_told() -> None:
    found = scoring.doubts(damaged(boards(60)), CLASSES)
    said = {one.picture: one for one in found[:4]}
    assert said[0].label == -1
    assert said[0].box == pytest.approx((10, 10, 40, 34), abs=6)
    assert said[1].label == 4
    assert said[1].index == -1
    assert said[3].box == pytest.approx((10, 10, 40, 34), abs=6)


def test_a_label_far_from_its_place_is_one_doubt_not_two() -> None:
    pictures = boards(60)
    labels = pictures[0].labels.copy()
    labels[0, [0, 2]] += 34  # it touches no more what it was about
    found = scoring.doubts([Looked(labels, pictures[0].found), *pictures[1:]], CLASSES)
    assert [one.kind for one in found if one.picture == 0 and one.certainty > 0.3] == [Kind.LOOSE]


def test_each_label_is_in_doubt_once() -> None:
    found = scoring.doubts(damaged(boards(20)), CLASSES)
    told = [(one.picture, one.label) for one in found if one.label >= 0]
    assert len(told) == len(set(told))


def test_nothing_labelled_and_nothing_found_is_no_doubt() -> None:
    empty = Looked(np.zeros((0, 5)), np.zeros((0, 6)))
    assert scoring.doubts([empty, empty], CLASSES) == []
    assert scoring.doubts([], CLASSES) == []
    assert scoring.doubts([empty], 0) == []


def test_finds_of_two_classes_on_one_spot_are_one_place() -> None:
    found = np.array([[0, 0, 10, 10, 0.4, 1], [0, 0, 10, 11, 0.6, 0]])
    places = pairing.places(found, 2)
    assert len(places) == 1
    assert places.scores.tolist() == [[0.6, 0.4]]


def test_a_rate_is_learned_without_what_ought_not_to_happen() -> None:
    draw = np.random.default_rng(1)
    score = draw.uniform(0.02, 0.98, 4000)
    happened = draw.uniform(size=4000) < 1 - score
    damage = (draw.uniform(size=4000) < 0.02) & (score > 0.9)
    looks = np.column_stack([np.ones(4000), rates.log_odds(score)])
    learned = rates.rates(looks, happened | damage)
    assert learned[score > 0.95].mean() == pytest.approx(0.035, abs=0.03)


def doubts_of(found: list[Doubt], kind: Kind) -> list[Doubt]:
    return [one for one in found if one.kind is kind]


def test_a_sure_place_without_a_label_goes_before_a_doubtful_one() -> None:
    missing = doubts_of(scoring.doubts(damaged(boards(60)), CLASSES), Kind.MISSING)
    assert missing[0].score > 0.5
    assert all(one.score < 0.5 for one in missing[1:])
