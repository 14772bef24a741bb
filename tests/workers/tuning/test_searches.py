"""A search from the click to the registry: trials in rows, poor ones stopped, the best kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain import JobState, ModelState, Search, Trial, TrialState
from backend.errors import Cancelled, Enough, Refused
from backend.jobs import claims, journal, queue
from backend.models import registry, searches, tracked, trials
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.tuning import curves
from workers import data, handlers
from workers.tuning import nested, trying
from workers.tuning.study import HEAR, Study

IMAGES = 12


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    curves.prepare()
    made = places.make(tmp_path / "home")
    yield made
    made.database.close()
    curves.forget()


def ask(place: Place, project: int, family: str = curves.NAME, **how: Any) -> searches.Begun:
    with place.database.write.begin() as session:
        return searches.ask(session, project, family, **{"seed": 1, "at_once": 1, **how})


def told(place: Place, begun: searches.Begun) -> tuple[Search, list[Trial]]:
    with place.database.read() as session:
        search = searches.get(session, begun.search.id)
        return search, trials.of_search(session, search.id)


def test_the_best_of_many_stands_in_the_registry_with_its_parameters(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=12)
    result = place.carry_out(place.claim())
    search, found = told(place, begun)
    best = searches.best(found)
    assert best is not None
    assert best.value == max(one.value or 0 for one in found)
    assert found[0].parameters == {}
    with place.database.read() as session:
        details = registry.details(session, begun.model.id)
    assert details.model.state is ModelState.READY
    assert details.model.parameters["learning_rate"] == best.parameters["learning_rate"]
    assert details.provenance["search"] == search.id
    assert details.provenance["trial"] == best.number == result["best"]
    assert (search.state, search.facts["model"]) == (JobState.DONE, details.model.name)


@pytest.mark.usefixtures("mlflow_is_told")
def test_each_trial_is_a_run_under_that_of_its_search(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=6)
    place.carry_out(place.claim())
    _, found = told(place, begun)
    with place.database.read() as session:
        above, *under = (tracked.get(session, id) for id in tracked.waiting(session))
        curves_ = [[one.data["epoch"] for one in tracked.news(session, run)] for run in under]
    assert (above.job_id, above.model_id) == (begun.job.id, begun.model.id)
    assert {run.parent_id for run in under} == {above.id}
    assert [nested.STATES[one.state] for one in found] == [run.state for run in under]
    assert curves_ == [[each["epoch"] for each in one.epochs] for one in found]


@pytest.mark.usefixtures("mlflow_is_told")
def test_a_trial_that_processes_die_of_has_failed_as_a_run_too(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=2)
    with place.database.write.begin() as session:
        trial = trials.draw(session, begun.search, [])
        assert trial is not None
        nested.begin(session, begun.search, trial, {})
        for _ in range(trials.MOST_TRIES):
            trials.begin(session, trial, "cpu")
    result = place.carry_out(place.claim())
    assert searches.NO_DEFAULTS in result["verdict"]
    with place.database.read() as session:
        runs = [tracked.get(session, id) for id in tracked.waiting(session)]
    assert [run.state for run in runs[1:]] == [JobState.FAILED, JobState.DONE]


def test_poor_trials_end_early_and_leave_nothing(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=12)
    job = place.claim()
    place.carry_out(job)
    _, found = told(place, begun)
    assert sum(len(one.epochs) for one in found) <= 0.6 * 9 * len(found)
    assert {one.state for one in found} == {TrialState.DONE, TrialState.STOPPED}
    assert all(one.error for one in found if one.state is TrialState.STOPPED)
    best = searches.best(found)
    left = {one.name for one in (place.settings.home / "jobs" / str(job.id) / "trials").iterdir()}
    assert left == {"0", str(best and best.number), "classes.json"}
    assert [bool(one.weights) for one in found] == [
        one.number in (0, best and best.number) for one in found
    ]


def test_what_is_no_number_and_what_has_no_room_are_failed_trials(place: Place) -> None:
    project = place.sample(IMAGES)
    begun = ask(place, project, trials=3, space="lr=6..9")
    place.carry_out(place.claim())
    _, found = told(place, begun)
    assert [one.state for one in found] == [TrialState.DONE, *[TrialState.FAILED] * 2]
    assert "no number any more in epoch 1" in found[1].error
    begun = ask(place, project, trials=2, space=f"batch={curves.TOO_LARGE}")
    result = place.carry_out(place.claim())
    _, found = told(place, begun)
    assert "ran out of memory" in found[1].error
    assert result["trials"] == {"done": 1, "failed": 1}
    assert result["verdict"].startswith(searches.NO_BETTER)


def test_a_search_of_which_nothing_came_says_why(place: Place) -> None:
    project = place.sample(IMAGES)
    ask(place, project, trials=2, parameters={"learning_rate": 9.0}, space="lr=6..9")
    with pytest.raises(Refused, match=r"No trial was finished.* no number any more"):
        place.carry_out(place.claim())


def test_a_person_stops_a_trial_and_then_all(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=50, parameters={"extra": {"pause": 2 * HEAR}})
    job = place.claim()
    context = place.context(job)

    def steer(fraction: float | None, message: str) -> None:
        """A person who watches: trial 1 goes, and all after trial 3."""
        del fraction
        if message == "Trial 1 (2 of 50): Epoch 1":
            with place.database.write.begin() as session:
                trials.stop(session, begun.search.id, 1)
        if message == "Trial 3 (4 of 50): Epoch 1":
            with place.database.write.begin() as session:
                searches.stop(session, begun.search.id)

    steered = Steered(context, steer)
    result = handlers.find("tune").run(steered)  # type: ignore[arg-type]
    _, found = told(place, begun)
    assert found[1].error == "A person stopped it."
    assert found[3].error == "A person stopped the search."
    assert len(found) == 4
    assert result["best"] in (0, 2)


def test_a_search_that_waits_for_a_place_can_be_stopped(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=3)
    context = place.context(place.claim())
    laid_out = data.lay_out(context, begun.search.snapshot_id)
    study = Study(context, begun.search, laid_out, None, "cpu")
    assert study.next() is not None
    study.check_stopped()
    with place.database.write.begin() as session:
        searches.stop(session, begun.search.id)
    with pytest.raises(Enough, match="stopped the search") as stopped:
        study.check_stopped()
    study.end_all(str(stopped.value))
    assert study.is_over()
    (only,) = told(place, begun)[1]
    assert (only.state, only.error) == (TrialState.STOPPED, "A person stopped the search.")


def test_a_trial_that_waits_for_a_place_of_its_own_hears_that_it_is_stopped(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "ASK", 0.0)
    begun = ask(place, place.sample(IMAGES), trials=3, parameters={"workers": 2})
    context = place.context(place.claim())
    laid_out = data.lay_out(context, begun.search.snapshot_id)
    study = Study(context, begun.search, laid_out, None, "cpu")
    trial = study.next()
    assert trial is not None
    listening = trying.Listening(trying.TrialReporter(study, trial))
    listening.progress(0.0, "Waiting for 2 GPUs.")
    listening.progress(0.0, "Waiting for 2 GPUs.")
    with place.database.write.begin() as session:
        searches.stop_trial(session, begun.search.id, 0)
    listening.progress(0.1, "Epoch 1")  # who moves ends after its epoch
    with pytest.raises(Enough, match="A person stopped it"):
        listening.progress(0.1, "Waiting for 2 GPUs.")


class Steered:
    """A context that shows its sentences to somebody."""

    def __init__(self, context: Any, shown: Any) -> None:
        self.context, self.shown = context, shown

    def progress(self, fraction: float | None, message: str) -> None:
        """Pass it on."""
        self.shown(fraction, message)
        self.context.progress(fraction, message)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.context, name)


def test_more_trials_go_on_where_the_search_had_ended(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=4)
    place.carry_out(place.claim())
    before = told(place, begun)[1]
    with place.database.write.begin() as session:
        searches.more(session, begun.search.id, 4)
    place.carry_out(place.claim())
    search, found = told(place, begun)
    assert [one.epochs for one in found[:4]] == [one.epochs for one in before]
    assert (len(found), search.trials) == (8, 8)
    with place.database.read() as session:
        assert [one.name for one in registry.models(session, search.project_id)] == ["v2", "v1"]


def test_more_trials_asked_for_at_the_very_end_are_tried(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=3)
    allowed: list[int] = []

    def allow(fraction: float | None, message: str) -> None:
        """Somebody who clicks while the best trial is measured."""
        if not allowed and fraction is not None and not message.startswith("Trial"):
            allowed.append(3)
            with place.database.write.begin() as session:
                searches.more(session, begun.search.id, 3)

    steered = Steered(place.context(place.claim()), allow)
    result = handlers.find("tune").run(steered)  # type: ignore[arg-type]
    assert allowed
    assert sum(result["trials"].values()) == len(told(place, begun)[1]) == 6


def test_a_conclusion_is_not_drawn_twice(place: Place) -> None:
    ask(place, place.sample(IMAGES), trials=3)
    job = place.claim()
    first = handlers.find("tune").run(place.context(job))
    again = handlers.find("tune").run(place.context(job))
    assert {name: again[name] for name in first} == first


def test_the_hours_end_a_search_but_not_its_defaults(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), hours=1e-9)
    place.carry_out(place.claim())
    assert [one.state for one in told(place, begun)[1]] == [TrialState.DONE]


def test_a_cancelled_search_goes_on_with_what_was_done(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), trials=6)
    job = place.claim()
    context = place.context(job)

    def cancel(fraction: float | None, message: str) -> None:
        del fraction
        if message == "Trial 0 (1 of 6): Epoch 5":
            context.stopping.set()

    with place.database.write.begin() as session:
        queue.cancel(session, job.id)
    with pytest.raises(Cancelled):
        handlers.find("tune").run(Steered(context, cancel))  # type: ignore[arg-type]
    with place.database.write.begin() as session:
        claims.release(session, job, "Cancelled.")
        queue.retry(session, job.id)
    place.carry_out(place.claim())
    _, found = told(place, begun)
    assert all(one.state is not TrialState.RUNNING for one in found)
    done = (place.settings.home / "jobs" / str(job.id) / "epochs.txt").read_text().splitlines()
    assert len(done) == len(set(done)) == sum(len(one.epochs) for one in found)


def test_a_search_of_fifty_trials_keeps_a_short_story(place: Place) -> None:
    ask(place, place.sample(IMAGES), trials=50)
    job = place.claim()
    place.carry_out(job)
    with place.database.read() as session:
        assert len(journal.read(session, job.id)) <= 60


def test_the_golden_board_is_searched_on_its_validation_images(place: Place) -> None:
    begun = ask(place, place.sample(IMAGES), "golden", trials=3, space="tolerance=0.5..3")
    result = place.carry_out(place.claim())
    _, found = told(place, begun)
    assert [one.state for one in found] == [TrialState.DONE] * 3
    assert all(0 < (one.epochs[-1]["map50"]) <= 1 for one in found)
    assert result["held_out"] is not None
    assert "the defaults" in result["verdict"]
