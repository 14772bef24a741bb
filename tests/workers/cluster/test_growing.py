"""A cluster that grows: what a job needs is asked for, waited for, and given back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backend.domain import Job, JobState
from backend.jobs import journal, presence, queue
from backend.jobs.presence import Presence
from backend.labels import samples
from backend.models import trainings
from backend.runs import detection
from backend.storage.files import Files
from tests.workers import running
from tests.workers.cluster import growing
from tests.workers.cluster.growing import Growing
from tests.workers.running import House

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Growing]:
    with growing.cluster() as made:
        yield made


@pytest.fixture(scope="module")
def house(cluster: Growing, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running.house(tmp_path_factory.mktemp("house")) as built:
        built.start_worker(**cluster.settings, LOUPE_NODE_MINUTES="10")
        built.until_true(lambda: bool(workers(built)))  # it says that cards may come
        yield built


def workers(house: House) -> list[Presence]:
    with house.database.read() as session:
        return presence.living(session)


@pytest.fixture(scope="module")
def project(house: House) -> int:
    files = Files(str(house.home / "files"), house.home / "cache")
    drawn = samples.draw(files, "pcb", 6, seed=5)
    with house.database.write.begin() as session:
        return samples.create(session, "boards", "pcb", drawn).id


def retrain(house: House, project: int, epochs: int, workers: int = 2) -> int:
    parameters = {
        "epochs": epochs, "image_size": 64, "batch": 2, "workers": workers, "device": "gpu",
        "variant": "",
    }  # fmt: skip
    with house.database.write.begin() as session:
        return trainings.retrain(
            session, project, "faster_rcnn", start="scratch", parameters=parameters, seed=1
        ).job.id


def lines(house: House, job: int) -> list[str]:
    with house.database.read() as session:
        return [event.text for event in journal.read(session, job)]


def until_gone(house: House, cluster: Growing) -> None:
    house.until_none(cluster.nodes)


def is_waiting(job: Job) -> bool:
    said = job.message
    return said.startswith("Waiting for 2 GPUs: the cluster has ") and said.endswith("starting.")


def detect(house: House, project: int) -> int:
    options = {"device": "gpu", "workers": 1}
    with house.database.write.begin() as session:
        return detection.ask(session, project, "golden", options=options).id


@pytest.mark.again
def test_jobs_that_wait_all_get_their_nodes_and_give_them_back(
    house: House, cluster: Growing, project: int
) -> None:
    job, run = retrain(house, project, 1), detect(house, project)
    house.until(job, is_waiting)
    ended = [house.until_ended(each, 600) for each in (job, run)]
    assert [(one.state, one.error) for one in ended] == [(JobState.DONE, "")] * 2
    assert ended[1].result["images"] == 6
    told = lines(house, job)
    assert "The cluster gives 2 GPUs." in told
    assert "Trains in 2 processes." in told
    until_gone(house, cluster)


def test_what_was_cancelled_or_killed_leaves_no_node(
    house: House, cluster: Growing, project: int
) -> None:
    job = retrain(house, project, 1)
    house.until_true(lambda: bool(cluster.nodes()))
    with house.database.write.begin() as session:
        queue.cancel(session, job)
    assert house.until_ended(job).state is JobState.CANCELLED
    until_gone(house, cluster)
