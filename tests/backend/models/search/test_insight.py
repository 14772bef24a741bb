"""What is said of parameters: what decides is told from what does not, and of little nothing."""

from __future__ import annotations

import random

import pytest

from backend.domain import TrialState
from backend.models import searches, trials
from backend.models.search import insight
from backend.storage.engine import Database
from tests.backend.models.test_searches import ask, filled

CHANCE = random.Random(3)
PLACES = [CHANCE.random() for _ in range(30)]


@pytest.mark.parametrize(
    ("values", "least", "most"),
    [
        ([place**3 for place in PLACES], 0.95, 1.0),
        ([-((place - 0.5) ** 2) for place in PLACES], 0.8, 1.0),
        ([CHANCE.random() for _ in PLACES], 0.0, 0.3),
    ],
)
def test_what_decides_explains_the_order(values: list[float], least: float, most: float) -> None:
    found = insight.explained(PLACES, values)
    assert found is not None
    assert least <= found <= most


def test_of_few_trials_or_of_equal_ones_nothing_is_said() -> None:
    assert insight.explained(PLACES[:7], PLACES[:7]) is None
    assert insight.explained(PLACES, [0.5] * 30) is None
    assert insight.explained([0.5] * 30, PLACES) is None
    assert insight.explained([0.0, 1.0] * 15, [0.0, 1.0] * 15) == 1.0


def test_a_search_is_drawn_by_its_best_and_some_of_the_others(sqlite: Database) -> None:
    space = "lr=1e-4..1e-2:log,batch=4|8|16,freeze=0..10"
    begun = ask(sqlite, filled(sqlite, *[None] * 4), trials=100, space=space)
    with sqlite.write.begin() as session:
        known = trials.of_search(session, begun.search.id)
        for _ in range(100):
            found = trials.draw(session, begun.search, known)
            assert found is not None
            value = found.parameters.get("learning_rate", 0.0) * 50
            known.append(trials.end(session, found, TrialState.DONE, value=value))
    with sqlite.read() as session:
        told = insight.of_search(session, searches.get(session, begun.search.id))
    assert (told.ended, len(told.lines)) == (99, insight.BEST + insight.OTHERS)
    assert [one.value for one in told.lines] == sorted((o.value for o in told.lines), reverse=True)
    assert all(0 <= place <= 1 for one in told.lines for place in one.places)
    rate, batch, freeze = told.axes
    assert (rate.name, rate.low, rate.high) == ("learning_rate", 1e-4, 1e-2)
    assert (batch.low, batch.high) == (4, 16)
    assert (rate.explains or 0) > 0.9 > 0.3 > max(batch.explains or 0, freeze.explains or 0)
