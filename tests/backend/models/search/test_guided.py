"""Guided values come near what did well, and depend on the rows and the seed alone."""

from __future__ import annotations

import math

from backend import spaces
from backend.domain import Trial, TrialState
from backend.models.search import guided, sampling

SPACE = spaces.parse("yolo", "lr=1e-4..1e-2:log,batch=4|8|16|32,freeze=0..10,mosaic=0..1")
FIGURE = "map50"


def worth(values: dict[str, float]) -> float:
    return 1 - abs(math.log10(values["learning_rate"] / 5e-3)) / 2 - 0.1 * values["mosaic"]


def searched(count: int, seed: int = 1, method: str = "guided") -> list[Trial]:
    """Every fourth trial ends early, every ninth fails."""
    known = [Trial(1, 0, TrialState.DONE, value=0.2)]
    for number in range(1, count):
        tried = [dict(one.parameters) for one in known]
        values = (
            guided.draw(SPACE, seed, number, known, FIGURE)
            if method == "guided"
            else sampling.draw(SPACE, seed, number, tried)
        )
        assert values is not None
        found = worth(values)
        told = ({"epoch": 1.0, FIGURE: found / 2},)
        if number % 9 == 8:
            known.append(Trial(1, number, TrialState.FAILED, values))
        elif number % 4 == 3:
            known.append(Trial(1, number, TrialState.STOPPED, values, told))
        else:
            known.append(Trial(1, number, TrialState.DONE, values, told, value=found))
    return known


def test_the_same_rows_give_the_same_values_and_no_two_trials_are_alike() -> None:
    found = searched(30)
    assert found == searched(30)
    assert found[:6] == searched(6, method="random")
    tried = [tuple(one.parameters.items()) for one in found]
    assert len(set(tried)) == len(tried)
    going_on = [*found, Trial(1, 30, TrialState.RUNNING, dict(found[-1].parameters))]
    assert guided.draw(SPACE, 1, 31, going_on, FIGURE) is not None


def test_guided_trials_are_worth_more_than_those_of_chance() -> None:
    def late(method: str) -> float:
        values = [
            worth(dict(one.parameters))
            for seed in range(3)
            for one in searched(40, seed, method)[20:]
        ]
        return sum(values) / len(values)

    assert late("guided") > late("random") + 0.1


def test_a_space_that_is_used_up_ends_a_guided_search() -> None:
    space = spaces.parse("yolo", "batch=4|8")
    known = [
        Trial(1, number, TrialState.DONE, {"batch": 4 + 4 * (number % 2)}, value=0.5)
        for number in range(9)
    ]
    assert guided.draw(space, 1, 9, known, FIGURE) is None
