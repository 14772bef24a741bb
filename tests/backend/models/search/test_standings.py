"""What is shown of a search: the best, what goes on, how it rose; of many as little as of few."""

from __future__ import annotations

from backend.domain import Trial, TrialState
from backend.models import searches, trials
from backend.models.search import standings
from backend.storage.engine import Database
from tests.backend.models.test_searches import ask, filled


def tried(database: Database, *values: float | None) -> int:
    """A search of trials that are worth so much; None has failed; the last one goes on."""
    begun = ask(database, filled(database, *[None] * 4), trials=len(values) + 1)
    with database.write.begin() as session:
        for value in (*values, 2.0):
            search = searches.get(session, begun.search.id)
            found = trials.draw(session, search, trials.of_search(session, search.id))
            assert found is not None
            trials.epoch(session, found, 1, {"map50": value or 0.0}, 1.0)
            if value is None:
                trials.end(session, found, TrialState.FAILED, error="There was no room.")
            elif value <= 1:
                trials.end(session, found, TrialState.DONE, value=value)
    return begun.search.id


def numbers(found: list[Trial]) -> list[int]:
    return [one.number for one in found]


def test_the_best_stand_first_and_who_goes_on_beside_them(database: Database) -> None:
    search = tried(database, 0.5, 0.75, None, 0.25, 0.75)
    with database.read() as session:
        assert numbers(standings.leaders(session, search)) == [1, 4, 0, 3]
        assert numbers(standings.leaders(session, search, 2)) == [1, 4]
        assert numbers(standings.under_way(session, search)) == [5]
        trouble = standings.trouble(session, search)
        assert trouble is not None
        assert (trouble.number, trouble.error) == (2, "There was no room.")
        assert numbers(standings.page(session, search, 3)) == [4, 5]
        assert numbers(standings.picked(session, search, [9, 4, 0])) == [0, 4]
        steps = standings.rise(session, search)
        assert [(one.number, one.value) for one in steps] == [(0, 0.5), (1, 0.75)]
        assert 0 <= steps[0].seconds <= steps[1].seconds


def test_a_search_without_trials_shows_nothing(sqlite: Database) -> None:
    search = ask(sqlite, filled(sqlite, *[None] * 4)).search.id
    with sqlite.read() as session:
        assert standings.leaders(session, search) == []
        assert standings.rise(session, search) == []
        assert standings.trouble(session, search) is None


def test_what_is_thinned_keeps_both_ends() -> None:
    assert standings.thinned(range(3), 40) == [0, 1, 2]
    found = standings.thinned(range(1000), 40)
    assert (len(found), found[0], found[-1]) == (40, 0, 999)
    assert found == sorted(set(found))
