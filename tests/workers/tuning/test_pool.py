"""Several trials at once: each on its seat, and one whose process dies begins again."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain import Trial, TrialState
from backend.jobs.needs import Need
from backend.models import searches, trials
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.tuning import curves
from tests.workers.tuning.test_searches import Steered
from workers import handlers
from workers.tuning import seats

PAUSE = {"extra": {"pause": 0.02}}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    curves.prepare()
    made = places.make(tmp_path / "home")
    yield made
    made.database.close()
    curves.forget()


def searched(place: Place, count: int, shown: Any = lambda *_: None) -> tuple[list[Trial], Path]:
    """A search with two trials at once; gives its trials and the list of epochs done."""
    project = place.sample(12)
    with place.database.write.begin() as session:
        begun = searches.ask(
            session, project, curves.NAME, trials=count, seed=1, at_once=2, parameters=PAUSE
        )
    job = place.claim()
    context = Steered(place.context(job), shown)
    handlers.find("tune").run(context)  # type: ignore[arg-type]
    with place.database.read() as session:
        found = trials.of_search(session, begun.search.id)
    return found, place.settings.home / "jobs" / str(job.id) / "epochs.txt"


def test_two_trials_at_once_end_as_one_after_the_other_would(place: Place) -> None:
    found, story = searched(place, 8)
    assert {one.state for one in found} <= {TrialState.DONE, TrialState.STOPPED}
    assert len({one.device for one in found}) == 2
    done = story.read_text().splitlines()
    assert len(done) == len(set(done)) == sum(len(one.epochs) for one in found)
    assert multiprocessing.active_children() == []


def test_a_trial_whose_process_dies_goes_on_in_another_one(place: Place) -> None:
    killed: list[int] = []

    def kill(fraction: float | None, message: str) -> None:
        """One of the processes, once trial 0 has done some epochs."""
        del fraction
        if not killed and message.startswith("Trial 0 ") and message.endswith("Epoch 4"):
            for one in multiprocessing.active_children():
                killed.append(one.pid or 0)
                one.kill()

    found, story = searched(place, 4, kill)
    assert len(killed) == 2
    assert all(one.state is not TrialState.RUNNING for one in found)
    assert found[0].state is TrialState.DONE
    assert [each["epoch"] for each in found[0].epochs] == list(range(1, 10))
    done = story.read_text().splitlines()
    assert len(done) - len(set(done)) <= len(killed)


def test_there_are_as_many_seats_as_cores_and_memory_allow() -> None:
    cores = len(os.sched_getaffinity(0))
    assert len(seats.of_machine(Need(), 1, 50)) == 1
    assert len(seats.of_machine(Need(), 0, 1)) == 1
    assert len(seats.of_machine(Need(memory_gb=4000.0), 0, 50)) == 1
    found = seats.of_machine(Need(), 0, 50)
    assert 1 <= len(found) <= cores
    assert sorted(core for one in found for core in one.cores) == sorted(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("given", "cards"), [("", ["0", "1"]), ("2,3", ["2", "3"]), ("GPU-a, b", ["GPU-a", "b"])]
)
def test_trials_keep_to_the_cards_that_were_given(
    monkeypatch: pytest.MonkeyPatch, given: str, cards: list[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    assert seats.names(2) == cards
