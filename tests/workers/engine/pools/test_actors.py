"""The Ray pool on a real cluster of several nodes on this machine, while parts of it are killed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.errors import Refused
from backend.jobs.needs import Need
from backend.settings import Settings
from tests.workers.engine import spots
from workers import cluster as clusters
from workers.demand import reservation
from workers.engine import chunks
from workers.engine.chunks import Chunk, ChunkResult, Looked, Status, Work
from workers.engine.pools import picking
from workers.engine.pools.actors import NO_PARCELS, Looker, RayPool
from workers.engine.pools.copies import Copies, Parcel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    clusters.prepare("local")
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False},
    )
    made.add_node(num_cpus=1)
    made.add_node(num_cpus=1)
    yield made
    made.shutdown()


@pytest.fixture
def ray(cluster: Any) -> Iterator[Any]:
    joined = clusters.connect(cluster.address)
    yield joined
    joined.shutdown()


def _pid(worker: str) -> int:
    return int(worker.rpartition(":")[2])


@pytest.mark.again
def test_each_node_tells_its_free_cores_and_whose_actors_it_carries(ray: Any) -> None:
    looker = ray.remote(Still).options(num_cpus=1).remote()
    ray.get(looker.hello.remote())
    end = time.monotonic() + 120.0  # nodes tell what is free now and then
    while True:
        nodes = clusters.describe(ray)["nodes"]
        if sum(node["free"]["cores"] for node in nodes) == 2.0 or time.monotonic() > end:
            break
        time.sleep(0.1)
    assert [node["cores"] for node in nodes] == [1.0, 1.0, 1.0]
    assert sorted(node["free"]["cores"] for node in nodes) == [0.0, 1.0, 1.0]
    (carrying,) = [node for node in nodes if node["actors"]]
    assert carrying["free"]["cores"] == 0.0
    assert carrying["actors"] == {os.getpid(): 1}


def test_what_is_free_on_two_nodes_in_halves_is_no_whole_one(ray: Any) -> None:
    end = time.monotonic() + 120.0
    while reservation.free(Need("cpu")) < 3 and time.monotonic() < end:
        time.sleep(0.1)
    assert ray.available_resources()["CPU"] == 3.0
    assert reservation.free(Need("cpu")) == 3
    assert reservation.free(Need("cpu", cores=2)) == 0


def test_without_a_wish_cores_are_taken_where_the_cluster_has_no_card(
    ray: Any, tmp_path: Path
) -> None:
    """The model was prepared on a machine with a card."""
    setup = replace(spots.setup(), card=True, batch=8)
    context: Any = SimpleNamespace(
        settings=Settings(home=tmp_path),
        check=lambda: None,
        progress=lambda *_: None,
        cluster=lambda: {"address": ray.get_runtime_context().gcs_address},
        job=SimpleNamespace(id=1, kind="detect", project_id=None, attempt=1),
    )
    for asked in ({"ray": True}, {"ray": True, "workers": 1}):
        with picking.open_pool(context, setup, 10, asked) as pool:
            assert (pool.setup.card, pool.setup.batch) == (False, 1)  # type: ignore[attr-defined]
    with pytest.raises(Refused, match="room for 0 processes of a job that asks for 1 GPU"):
        picking.open_pool(context, setup, 10, {"ray": True, "device": "gpu"})


class Still:
    """An actor that does nothing."""

    def hello(self) -> None:
        """It is there."""


def test_killed_actors_and_a_killed_node_lose_and_double_nothing(
    cluster: Any, ray: Any, tmp_path: Path
) -> None:
    paths = spots.draw(tmp_path, 300)
    random.seed(2)
    found: list[Looked] = []
    kills = 0
    with RayPool(ray, spots.setup(0.02)) as pool:
        assert pool.size == 3
        work = (Work(i, path) for i, path in enumerate(paths))
        for count, result in enumerate(pool.run(chunks.cut(work, 5))):
            found.extend(result)
            if count == 20:
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
                kills += 1
            elif count % 8 == 4 and kills < 5 and result.worker:
                os.kill(_pid(result.worker), signal.SIGKILL)
                kills += 1
    assert kills == 5
    assert sorted(one.index for one in found) == list(range(300))
    assert {one.status for one in found} == {Status.OK}
    assert [len(one.boxes) for one in sorted(found, key=lambda o: o.index)] == [
        i % 3 for i in range(300)
    ]


def test_a_picture_that_kills_its_actor_is_the_only_one_left_out(ray: Any, tmp_path: Path) -> None:
    paths = spots.draw(tmp_path, 6) + spots.draw(tmp_path, 1, "killer")
    with RayPool(ray, spots.setup(), most=1) as pool:
        work = (Work(i, path) for i, path in enumerate(paths))
        found = [one for result in pool.run(chunks.cut(work, 7)) for one in result]
    assert [one.index for one in found if one.status == Status.CRASHED] == [6]
    assert len(found) == 7


def test_pictures_travel_once_to_a_machine_that_does_not_see_our_disk(
    ray: Any, tmp_path: Path
) -> None:
    class Blind(Looker):
        """An actor that sees only what was sent to the disk of its own machine."""

        def hello(self, sample: str) -> bool:
            self._copies = Copies(tmp_path / "there")
            return super().hello("/nowhere" + sample)

        def look(self, chunk: Chunk, sent: Mapping[str, Parcel] = NO_PARCELS) -> ChunkResult:
            away = tuple("/nowhere" + source for source in chunk.sources)
            parcels = {"/nowhere" + source: parcel for source, parcel in sent.items()}
            return super().look(replace(chunk, sources=away), parcels)

        def fetched(self) -> int:
            assert self._copies
            return self._copies.fetched

    work = [Work(i, path) for i, path in enumerate(spots.draw(tmp_path, 3))]
    for travelled in (3, 0):
        with RayPool(ray, spots.setup(), most=1, looker=Blind) as pool:
            results = list(pool.run(chunks.cut(work, 2)))
            assert ray.get(pool._hands[0].actor.fetched.remote()) == travelled
        assert sorted((one.index, len(one.boxes)) for result in results for one in result) == [
            (0, 0), (1, 1), (2, 2),
        ]  # fmt: skip
