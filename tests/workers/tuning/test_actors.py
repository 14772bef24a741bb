"""Trials on a cluster: as many at once as it has cards, and whatever dies, the search goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain import Search, Trial, TrialState
from backend.jobs import journal, queue
from backend.models import searches, trials
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.tuning import curves, nodes
from tests.workers.tuning.nodes import Nodes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    """Two nodes with a card each."""
    with nodes.cluster(1, 1) as made:
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    curves.prepare()
    made = places.make(tmp_path / "home")
    yield made
    made.database.close()
    curves.forget()


def ask(
    place: Place, count: int, pause: float, share: float = 1.0, images: int = 12
) -> searches.Begun:
    project = place.sample(images)
    with place.database.write.begin() as session:
        return searches.ask(
            session, project, curves.NAME, trials=count, seed=1, share=share,
            parameters={"extra": {"pause": pause}},
        )  # fmt: skip


def begin(place: Place, cluster: Nodes) -> subprocess.Popen[bytes]:
    """A process that carries out the search on the cluster."""
    home = str(place.settings.home)
    own = {"LOUPE_HOME": home, "LOUPE_MLFLOW_URI": "off", **cluster.settings}
    command = [sys.executable, "-m", "tests.workers.tuning.attempt", home]
    return subprocess.Popen(command, env={**os.environ, **own})


def told(place: Place, begun: searches.Begun) -> tuple[Search, list[Trial]]:
    with place.database.read() as session:
        search = searches.get(session, begun.search.id)
        return search, trials.of_search(session, search.id)


def until_epochs(process: subprocess.Popen[bytes], story: Path, count: int) -> None:
    while not story.is_file() or len(story.read_text().splitlines()) < count:
        assert process.poll() is None
        time.sleep(0.05)


def story(place: Place, begun: searches.Begun) -> Path:
    return place.settings.home / "jobs" / str(begun.job.id) / "epochs.txt"


def epochs(place: Place, begun: searches.Begun) -> list[str]:
    return story(place, begun).read_text().splitlines()


def useless(place: Place, begun: searches.Begun) -> int:
    """How often the story says that a card is of no use."""
    with place.database.read() as session:
        found = journal.read(session, begun.job.id)
    return sum("torch cannot use it: they take cores" in one.text for one in found)


def until_gone(cluster: Nodes) -> None:
    end = time.monotonic() + 60
    while cluster.actors("Trier"):
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.again
def test_each_half_of_a_card_has_a_trial_and_nothing_is_left(place: Place, cluster: Nodes) -> None:
    begun = ask(place, 10, 0.1, share=0.5)
    assert begin(place, cluster).wait() == 0
    search, found = told(place, begun)
    assert search.facts["best"] == getattr(searches.best(found), "number", None)
    assert {one.state for one in found} <= {TrialState.DONE, TrialState.STOPPED}
    done = epochs(place, begun)
    assert len(done) == len(set(done)) == sum(len(one.epochs) for one in found)
    assert len({one.device.rpartition(",")[0] for one in found}) == 2
    assert all("GPU 0" in one.device for one in found)
    until_gone(cluster)
    assert useless(place, begun) == 1  # as the cards are made up


@pytest.mark.again
def test_a_killed_actor_and_a_killed_node_cost_an_epoch_each(place: Place) -> None:
    with nodes.cluster(0, 1, 1) as cluster:
        begun = ask(place, 6, 0.3)
        process = begin(place, cluster)
        until_epochs(process, story(place, begun), 6)
        for one in cluster.actors("Trier", 1):
            one.kill()
        until_epochs(process, story(place, begun), 12)
        nodes.end(cluster.nodes[2])
        assert process.wait() == 0
        _, found = told(place, begun)
        assert len(found) == 6
        assert {one.state for one in found} <= {TrialState.DONE, TrialState.STOPPED}
        assert [each["epoch"] for each in found[0].epochs] == list(range(1, 10))
        done = epochs(place, begun)
        assert len(done) - len(set(done)) <= 2
        until_gone(cluster)
        check_stopping_where_no_place_stands(place, cluster)


def check_stopping_where_no_place_stands(place: Place, cluster: Nodes) -> None:
    """The last card goes; whoever watches ends the search while it waits for another."""
    begun = ask(place, 50, 0.1, images=13)
    process = begin(place, cluster)
    until_epochs(process, story(place, begun), 12)
    nodes.end(cluster.nodes[1])
    while not _message(place, begun).startswith("Waiting for 1 GPU"):
        assert process.poll() is None
        time.sleep(0.1)
    with place.database.write.begin() as session:
        searches.stop(session, begun.search.id)
    assert process.wait() == 0
    search, found = told(place, begun)
    assert found[-1].error == "A person stopped the search."
    assert all(one.state is not TrialState.RUNNING for one in found)
    assert search.facts["model"] == begun.model.name


def _message(place: Place, begun: searches.Begun) -> str:
    with place.database.read() as session:
        return queue.get(session, begun.job.id).message
