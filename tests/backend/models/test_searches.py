"""A search as a click asks for it: checked first; its trials are rows that nothing can double."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from backend.domain import (
    Box,
    JobState,
    ModelState,
    Project,
    Search,
    Split,
    Task,
    Trial,
    TrialState,
)
from backend.errors import Busy, Invalid, LoupeError, NotFound, Refused
from backend.jobs import claims, queue
from backend.jobs.lanes import Lane
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import registry, searches, trials
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.tables import ModelRow, SearchRow, SnapshotRow


def filled(database: Database, *splits: Split | None) -> Project:
    """Labelled boards, assigned to these splits."""
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", Task.DETECT, ("open", "short"))
        boxes = tuple(Box(10, 10, 30, 30, label) for label in ("open", "short"))
        boards = [
            NewImage(f"{i}.png", f"{i + 1:064x}", 640, 640, boxes=boxes, labelled=True, split=split)
            for i, split in enumerate(splits)
        ]
        images.add(session, project.id, boards, "ann")
        return catalogue.get(session, project.id)


@pytest.fixture
def project(database: Database) -> Project:
    return filled(database, *[None] * 12)


def ask(database: Database, project: Project, **how: Any) -> searches.Begun:
    family = how.pop("family", "yolo")
    with database.write.begin() as session:
        return searches.ask(session, project.id, family, **{"trials": 3, "seed": 1, **how})


def draw(database: Database, search: Search) -> Trial | None:
    with database.write.begin() as session:
        search = searches.get(session, search.id)
        return trials.draw(session, search, trials.of_search(session, search.id))


def drawn(database: Database, search: Search) -> Trial:
    found = draw(database, search)
    assert found is not None
    return found


def finish(database: Database, begun: searches.Begun) -> None:
    """What a worker does at the end."""
    with database.write.begin() as session:
        job = claims.claim(session, "machine:1:1", Lane.LONG)
        assert job is not None
        registry.complete(session, begun.model.id, "a" * 64, {"map50": 0.5})
        claims.finish(session, job, {})


def count(database: Database, row: Any) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(row)) or 0


def test_a_click_freezes_numbers_and_queues(database: Database, project: Project) -> None:
    begun = ask(database, project, parameters={"epochs": 2}, author="ann")
    assert (begun.model.name, begun.model.state) == ("v1", ModelState.TRAINING)
    assert begun.job.request["search_id"] == begun.search.id
    assert begun.search.parameters["epochs"] == 2
    assert begun.search.space.startswith("learning_rate=")
    assert (begun.search.state, begun.search.job_id) == (JobState.QUEUED, begun.job.id)
    with database.read() as session:
        assert searches.of_project(session, project.id) == [begun.search]


def test_the_same_click_twice_is_one_search_and_another_one_waits_its_turn(
    database: Database, project: Project
) -> None:
    first = ask(database, project, key="click")
    assert ask(database, project, key="click").search.id == first.search.id
    with pytest.raises(Busy, match="already waiting"):
        ask(database, project)
    assert count(database, SearchRow) == 1


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"trials": 0}, "needs a budget"),
        ({"at_once": -1}, "At once there are from 1"),
        ({"trials": -1}, "from 1 to 10,000 trials, not -1"),
        ({"trials": 0, "hours": -2.0}, "hours of a search go from 0"),
        ({"hours": float("nan")}, "hours of a search go from 0"),
        ({"space": "lr=1e-2..1e-4"}, "reversed"),
        ({"space": "lr=1e-3..1e-3"}, "empty"),
        ({"space": "tolerance=1..2"}, "yolo has no parameter 'tolerance'"),
        ({"space": "batch="}, "says nothing of batch"),
        ({"family": "oracle"}, "no model family 'oracle'"),
        ({"family": "classifier"}, "the project's task is detect"),
        ({"family": "golden"}, "No labelled image has a golden"),
        ({"parameters": {"epochs": 0}}, "epochs must be from 1"),
        ({"start": "v9"}, "no model 'v9'"),
        ({"method": "brave"}, "no method 'brave'; there are random, guided"),
        ({"share": 0.01}, "from 0.05 to 1 of a card"),
        ({"share": 0.5, "parameters": {"workers": 2}}, "leave the share at 1"),
        (
            {"share": 0.5, "parameters": {"device": "cpu"}},
            "a part of a card, and the device is cpu",
        ),
    ],
)
def test_nonsense_is_refused_before_anything_is_made(
    sqlite: Database, how: dict[str, Any], sentence: str
) -> None:
    project = filled(sqlite, *[None] * 4)
    with pytest.raises(LoupeError, match=sentence):
        ask(sqlite, project, **how)
    assert [count(sqlite, row) for row in (SearchRow, ModelRow, SnapshotRow)] == [0, 0, 0]


def test_a_project_without_validation_images_is_refused(sqlite: Database) -> None:
    project = filled(sqlite, Split.TRAIN, Split.TEST)
    with pytest.raises(Refused, match="no validation images"):
        ask(sqlite, project)
    assert count(sqlite, SearchRow) == 0


def test_trials_begin_with_the_defaults_and_end_with_the_budget(
    database: Database, project: Project
) -> None:
    search = ask(database, project).search
    found = [drawn(database, search) for _ in range(3)]
    assert draw(database, search) is None
    assert [one.number for one in found] == [0, 1, 2]
    assert (found[0].parameters, found[0].state) == ({}, TrialState.RUNNING)
    assert searches.parameters(search, found[0]) == search.parameters
    changed = searches.parameters(search, found[1])
    assert changed["learning_rate"] == found[1].parameters["learning_rate"]
    assert changed["extra"]["mosaic"] == found[1].parameters["mosaic"]


def test_a_space_that_is_used_up_ends_the_search(sqlite: Database) -> None:
    search = ask(sqlite, filled(sqlite, *[None] * 4), trials=50, space="batch=4|8").search
    found = [draw(sqlite, search) for _ in range(5)]
    assert [one is None for one in found] == [False, False, False, True, True]


def test_an_epoch_that_is_told_twice_counts_once(database: Database, project: Project) -> None:
    trial = drawn(database, ask(database, project).search)
    with database.write.begin() as session:
        trials.begin(session, trial, "cpu")
        for epoch, value in ((1, 0.1), (2, 0.2), (2, 0.3)):
            told = trials.epoch(session, trial, epoch, {"map50": value}, 1.5)
        assert told.epochs == ({"epoch": 1, "map50": 0.1}, {"epoch": 2, "map50": 0.3})
        assert (told.seconds, told.tries, told.device) == (4.5, 0, "cpu")


def test_a_trial_of_which_processes_die_has_failed(database: Database, project: Project) -> None:
    trial = drawn(database, ask(database, project).search)
    for _ in range(trials.MOST_TRIES):
        with database.write.begin() as session:
            assert trials.begin(session, trial, "cpu").state is TrialState.RUNNING
    with database.write.begin() as session:
        failed = trials.begin(session, trial, "cpu")
    assert (failed.state, failed.error) == (TrialState.FAILED, trials.DIED)


def test_a_trial_is_stopped_once_and_one_that_is_not_there_never(
    database: Database, project: Project
) -> None:
    search = ask(database, project).search
    trial = drawn(database, search)
    with database.write.begin() as session:
        assert trials.stop(session, search.id, 0).stopping
        trials.end(session, trial, TrialState.STOPPED)
        with pytest.raises(Refused, match="Trial 0 has ended"):
            trials.stop(session, search.id, 0)
        with pytest.raises(NotFound, match="has no trial 7"):
            trials.stop(session, search.id, 7)


def test_more_trials_are_allowed_while_it_goes_on_and_after_its_end(
    database: Database, project: Project
) -> None:
    begun = ask(database, project)
    with database.write.begin() as session:
        assert searches.more(session, begun.search.id, 2).trials == 5
        assert searches.stop(session, begun.search.id).stopping
    finish(database, begun)
    with database.write.begin() as session:
        with pytest.raises(Refused, match="has ended"):
            searches.stop(session, begun.search.id)
        again = searches.more(session, begun.search.id, 5)
        assert (again.trials, again.stopping, again.state) == (10, False, JobState.QUEUED)
        job = queue.get(session, again.job_id or 0)
        assert job.request["search_id"] == begun.search.id
        assert registry.get(session, job.request["model_id"]).name == "v2"


def test_more_trials_are_bounded_with_those_before(database: Database, project: Project) -> None:
    begun = ask(database, project, trials=9_000)
    told = pytest.raises(Invalid, match="from 1 to 10,000 trials, not 10001")
    with told, database.write.begin() as session:
        searches.more(session, begun.search.id, 1_001)
    with database.write.begin() as session:
        assert searches.more(session, begun.search.id, 1_000).trials == 10_000


def test_no_trial_of_a_search_that_has_ended_is_stopped(
    database: Database, project: Project
) -> None:
    begun = ask(database, project)
    drawn(database, begun.search)
    with database.write.begin() as session:
        assert searches.stop_trial(session, begun.search.id, 0).stopping
        queue.cancel(session, begun.job.id)
        with pytest.raises(Refused, match="has ended, so no trial of it can be stopped"):
            searches.stop_trial(session, begun.search.id, 0)


def test_what_is_allowed_behind_the_conclusion_is_another_job(
    database: Database, project: Project
) -> None:
    begun = ask(database, project)
    with database.write.begin() as session:
        claims.claim(session, "machine:1:1", Lane.LONG)
        assert not searches.has_grown(session, begun.search)
        searches.conclude(session, begun.search.id, {"model_id": begun.model.id})
    with database.write.begin() as session:
        with pytest.raises(Refused, match="has ended"):
            searches.stop(session, begun.search.id)
        again = searches.more(session, begun.search.id, 2)
        assert again.job_id != begun.job.id
        assert searches.has_grown(session, begun.search)
        assert not searches.has_concluded(session, begun.search.id)


def test_more_trials_of_a_search_that_was_cancelled_are_of_the_same_job(
    database: Database, project: Project
) -> None:
    begun = ask(database, project)
    with database.write.begin() as session:
        queue.cancel(session, begun.job.id)
    with database.write.begin() as session:
        again = searches.more(session, begun.search.id, 5)
        assert (again.trials, again.state, again.job_id) == (8, JobState.QUEUED, begun.job.id)
        assert registry.get(session, begun.model.id).state is ModelState.TRAINING
        assert len(registry.models(session, project.id)) == 1


@pytest.mark.parametrize(
    ("budget", "added", "sentence"),
    [
        ({"trials": 0, "hours": 1.0}, {"trials": 5}, "as its hours allow; add hours"),
        ({"trials": 3}, {"trials": 0, "hours": 1.0}, "as its trials take; add trials"),
        ({"trials": 3, "hours": 1.0}, {"trials": 5}, "hours of this search are over"),
    ],
)
def test_what_would_bring_no_trial_is_refused(
    sqlite: Database, budget: dict[str, Any], added: dict[str, Any], sentence: str
) -> None:
    begun = ask(sqlite, filled(sqlite, *[None] * 4), **budget)
    with sqlite.write.begin() as session:
        searches.count(session, begun.search.id, 3600.0)
    finish(sqlite, begun)
    with pytest.raises(Refused, match=sentence), sqlite.write.begin() as session:
        searches.more(session, begun.search.id, **added)
    assert count(sqlite, ModelRow) == 1


def test_trials_of_several_searches_are_counted_at_once(database: Database) -> None:
    project = filled(database, *[None] * 4)
    begun = ask(database, project)
    drawn(database, begun.search)
    finish(database, begun)
    other = ask(database, project)
    known = [other.search.id, begun.search.id]
    with database.read() as session:
        assert trials.counts_of(session, known) == {known[0]: {}, known[1]: {"running": 1}}
        assert searches.numbers(session, project.id) == known


def test_the_best_is_the_earliest_of_equal_ones_that_were_done() -> None:
    def trial(number: int, state: TrialState, value: float | None) -> Trial:
        return Trial(1, number, state, value=value)

    found = [
        trial(0, TrialState.DONE, 0.5),
        trial(1, TrialState.DONE, 0.5),
        trial(2, TrialState.STOPPED, 0.9),
        trial(3, TrialState.FAILED, None),
    ]
    assert searches.best(found) == found[0]
    assert searches.best(found[2:]) is None


@pytest.mark.parametrize(
    ("interval", "better", "said"),
    [
        ([0.05, 0.15], True, "v2 is better than the defaults (mAP@.5 +0.100"),
        ([-0.05, 0.25], None, searches.NO_BETTER),
        ([-0.25, -0.15], False, searches.NO_BETTER),
    ],
)
def test_what_the_held_out_images_say_is_said(
    interval: list[float], better: bool | None, said: str
) -> None:
    against = {"map50": {"difference": 0.1, "interval": interval, "better": better}}
    best = Trial(1, 2, TrialState.DONE, value=0.5)
    assert said in searches.verdict(best, "v2", against, Split.TEST)
    assert "no test images" in searches.verdict(best, "v2", against, Split.VAL)
    defaults = Trial(1, 0, TrialState.DONE, value=0.5)
    assert searches.verdict(defaults, "v2", {}, Split.TEST).startswith(searches.NO_BETTER)
