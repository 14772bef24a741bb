"""A training of two processes on the cluster, through the queue: cancelled, it leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backend.domain import JobState
from backend.jobs import journal, queue
from backend.labels import samples
from backend.models import trainings
from backend.storage.files import Files
from tests.workers import running
from tests.workers.running import House

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running.house(tmp_path_factory.mktemp("house")) as built:
        built.start_worker()
        yield built


@pytest.fixture(scope="module")
def project(house: House) -> int:
    files = Files(str(house.home / "files"), house.home / "cache")
    drawn = samples.draw(files, "pcb", 9, seed=5)
    with house.database.write.begin() as session:
        return samples.create(session, "boards", "pcb", drawn).id


def retrain(house: House, project: int, epochs: int) -> int:
    parameters = {"epochs": epochs, "image_size": 96, "batch": 2, "workers": 2, "variant": ""}
    with house.database.write.begin() as session:
        return trainings.retrain(
            session, project, "faster_rcnn", start="scratch", parameters=parameters, seed=1
        ).job.id


def epochs(house: House, job: int) -> list[int]:
    with house.database.read() as session:
        return [e.data["epoch"] for e in journal.read(session, job) if "epoch" in e.data]


def at_work(house: House) -> list[str]:
    """The processes that train."""
    lines = [running.line(process) for process in house.processes()]
    return [line for line in lines if "RayTrain" in line or "ray::_fit" in line]


@pytest.mark.parametrize("when", ["training", pytest.param("starting", marks=pytest.mark.again)])
def test_cancelling_frees_the_cluster(when: str, house: House, project: int) -> None:
    job = retrain(house, project, 100)
    house.until_true(
        lambda: bool(epochs(house, job) if when == "training" else at_work(house)), 300
    )
    assert at_work(house)
    assert bool(epochs(house, job)) is (when == "training")
    with house.database.write.begin() as session:
        queue.cancel(session, job)
    assert house.until_ended(job).state is JobState.CANCELLED
    house.until_true(lambda: not at_work(house))
