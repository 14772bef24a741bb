"""Successive halving: who lags behind ends early, who is as good as the others goes on."""

from __future__ import annotations

import random

import pytest

from backend.models.search import halving
from backend.models.search.halving import Curve


def rising(worth: float, epochs: int) -> list[tuple[int, float]]:
    """A curve that comes nearer to its worth with each epoch."""
    return [(epoch, worth * epoch / (epoch + 1)) for epoch in range(1, epochs + 1)]


def played(worths: list[float], epochs: int) -> list[list[tuple[int, float]]]:
    """The curves of a search, one trial after another; the first is never stopped."""
    curves: list[list[tuple[int, float]]] = [rising(worths[0], epochs)]
    for worth in worths[1:]:
        whole = rising(worth, epochs)
        ends = (n for n in range(1, epochs) if halving.stops(whole[:n], curves, epochs))
        curves.append(whole[: next(ends, epochs)])
    return curves


@pytest.mark.parametrize(
    ("epochs", "rungs"), [(1, []), (2, [1]), (6, [1, 3]), (20, [2, 6, 18]), (100, [11, 33, 99])]
)
def test_a_trial_is_judged_ever_less_often(epochs: int, rungs: list[int]) -> None:
    assert halving.rungs(epochs) == rungs


def test_the_first_one_there_goes_on_and_a_worse_one_does_not() -> None:
    assert not halving.stops([(1, 0.1)], [], 6)
    assert halving.stops([(1, 0.1)], [[(1, 0.2)]], 6)
    assert not halving.stops([(1, 0.3)], [[(1, 0.2)]], 6)


def test_what_is_as_good_as_the_others_goes_on() -> None:
    others: list[Curve] = [[(1, 0.0)]] * 5
    assert not halving.stops([(1, 0.0)], others, 6)


def test_between_two_rungs_nobody_is_stopped() -> None:
    others: list[Curve] = [rising(0.9, 6)] * 5
    assert not halving.stops([(1, 0.1), (2, 0.1)], others, 6)
    assert halving.stops([(1, 0.1), (2, 0.1), (3, 0.1)], others, 6)


def test_a_rung_that_was_passed_unseen_is_judged_at_the_next_epoch() -> None:
    others: list[Curve] = [rising(0.9, 6)] * 5
    assert halving.stops([(2, 0.1)], others, 6)
    assert halving.stops([(2, 0.1), (4, 0.1)], others, 6)


def test_the_best_of_many_comes_to_its_end_and_most_others_do_not() -> None:
    chance = random.Random(1)
    worths = [0.5, *(chance.random() for _ in range(30))]
    curves = played(worths, 18)
    best = max(range(len(worths)), key=worths.__getitem__)
    assert len(curves[best]) == 18
    assert sum(map(len, curves)) <= 0.4 * 18 * len(worths)
