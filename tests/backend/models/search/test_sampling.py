"""The values of a trial depend on the seed and its number alone, and none is drawn twice."""

from __future__ import annotations

from backend import spaces
from backend.models.search import sampling

SPACE = spaces.parse("yolo", "lr=1e-5..1e-1:log,batch=4|8|16,mosaic=0..1")


def test_trial_0_changes_nothing() -> None:
    assert sampling.draw(SPACE, 7, 0, []) == {}


def test_a_search_that_goes_on_draws_what_it_would_have_drawn() -> None:
    first = [sampling.draw(SPACE, 7, number, []) for number in range(20)]
    assert [sampling.draw(SPACE, 7, number, []) for number in reversed(range(20))] == first[::-1]
    assert [sampling.draw(SPACE, 8, number, []) for number in range(1, 20)] != first[1:]


def test_the_values_lie_in_the_space_and_all_over_it() -> None:
    found = [sampling.draw(SPACE, 7, number, []) or {} for number in range(1, 400)]
    rates = [each["learning_rate"] for each in found]
    assert all(1e-5 <= rate <= 1e-1 for rate in rates)
    assert 0.4 < sum(rate < 1e-3 for rate in rates) / len(rates) < 0.6
    assert {each["batch"] for each in found} == {4, 8, 16}


def test_no_values_are_drawn_twice_and_a_space_may_be_used_up() -> None:
    small = spaces.parse("yolo", "batch=4|8")
    tried: list[dict[str, float]] = [{}]
    while (values := sampling.draw(small, 7, len(tried), tried)) is not None:
        tried.append(values)
    assert sorted(each["batch"] for each in tried[1:]) == [4, 8]
