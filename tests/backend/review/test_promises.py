"""What is promised of escapes holds as often as it says, and the cheapest threshold is."""

from __future__ import annotations

import numpy as np
import pytest

from backend.review import promises
from backend.review.promises import Defects

DRAWS = 1000
SHARE = 0.05


def one_board_each(scores: list[float]) -> Defects:
    return Defects(np.array(scores), np.arange(len(scores)))


def boards(draw: np.random.Generator, number: int) -> Defects:
    """Up to six defects a board; one that is hard to see lowers all of its scores."""
    each = draw.integers(1, 7, number)
    place = np.repeat(np.arange(number), each)
    hard = draw.normal(0, 1, number)[place]
    return Defects(1 / (1 + np.exp(-(2 + hard + draw.normal(0, 1, len(place))))), place)


@pytest.mark.parametrize(
    ("escapes", "defects", "bound"), [(0, 214, 0.01390), (0, 299, 0.00997), (3, 100, 0.07571)]
)
def test_the_bound_is_clopper_and_pearsons(escapes: int, defects: int, bound: float) -> None:
    assert promises.at_most(escapes, defects) == pytest.approx(bound, abs=2e-5)


def test_nothing_seen_promises_nothing() -> None:
    assert promises.at_most(0, 0) == promises.at_most(5, 5) == 1
    assert promises.safest(one_board_each([]), SHARE) is None
    assert promises.fewest(0.01) == 299
    assert promises.safest(one_board_each([0.9] * 58), SHARE) is None
    assert promises.safest(one_board_each([0.9] * 59), SHARE) == 0.9


def test_the_promise_holds_in_ninety_five_of_a_hundred_draws() -> None:
    draw = np.random.default_rng(7)
    truth = boards(draw, 200_000)
    kept = given = 0
    for _ in range(DRAWS):
        threshold = promises.safest(boards(draw, 150), SHARE)
        if threshold is not None:
            given += 1
            kept += truth.escaping(threshold) <= SHARE * len(truth)
    assert given > 0.9 * DRAWS
    assert kept >= 0.95 * given


def test_defects_that_escape_board_by_board_count_for_less() -> None:
    draw = np.random.default_rng(3)
    apart = Defects(draw.random(600), np.arange(600))
    together = Defects(np.repeat(draw.random(100), 6), np.repeat(np.arange(100), 6))
    assert promises.crowding(apart) == pytest.approx(1, abs=0.1)
    assert promises.crowding(together) == pytest.approx(6, rel=0.1)


@pytest.mark.parametrize("seed", range(20))
def test_no_threshold_is_cheaper(seed: int) -> None:
    draw = np.random.default_rng(seed)
    found, calls = draw.beta(5, 2, 200), draw.beta(2, 5, 300)
    found[:10] = 0
    escape, call = draw.uniform(1, 50), draw.uniform(0.1, 5)
    best = promises.cheapest(found, calls, escape, call)
    tried = [
        (found < at).sum() * escape + (calls >= at).sum() * call
        for at in np.linspace(0.0001, 1, 5000)
    ]
    own = promises.price(found, calls, [best], escape, call)[0]
    assert own <= min(tried) * 1.0001


def test_no_threshold_lies_below_what_was_seen() -> None:
    found, calls = np.array([0.26, 0.9]), np.array([0.3])
    assert promises.cheapest(found, calls, 100, 1) == 0.26


def test_where_nothing_was_found_the_threshold_stays() -> None:
    nothing = np.zeros(0)
    assert promises.cheapest(nothing, nothing, 10, 1) == 0.5
    assert promises.cheapest(nothing, np.array([0.3, 0.9]), 10, 1) == 1
