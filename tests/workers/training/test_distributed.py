"""Training in several processes through Ray Train: shared gradients, deaths, and cancelling."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from backend.errors import Invalid, Refused
from backend.jobs.needs import Need
from tests.workers.families import drawn, real_boards
from tests.workers.training import reports
from workers import cluster
from workers.demand import growth
from workers.demand.reservation import Reservation
from workers.evaluation import appraisal
from workers.families import base, classifier
from workers.families.base import Parameters, Reporter, TrainingSet
from workers.training import basics, distributed

pytestmark = pytest.mark.slow
TWO = Parameters(
    epochs=3, image_size=64, batch=4, workers=2, variant="resnet18", extra={"from_scratch": True}
)
SHORT = replace(TWO, epochs=4, variant="small")


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[Any]:
    joined = cluster.connect("local")
    yield joined
    joined.shutdown()


@pytest.fixture
def single(tmp_path: Path) -> TrainingSet:
    return drawn.single(tmp_path / "single")


def busy(ray: Any) -> float:
    """Cores that a training holds."""
    return float(ray.cluster_resources()["CPU"] - ray.available_resources().get("CPU", 0))


def trainers() -> list[int]:
    """The processes of Ray that run a training loop."""
    names = [(p.pid, p.info["cmdline"] or [""]) for p in psutil.process_iter(["cmdline"])]
    children = {p.pid for p in psutil.Process().children(recursive=True)}
    return [pid for pid, line in names if pid in children and "RayTrainWorker" in line[0]]


def until(true: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not true():
        time.sleep(0.1)
    return bool(true())


def _differ(
    task: basics.TrainingTask, place: basics.Place, reporter: Reporter
) -> Mapping[str, Any]:
    """A loop that does not share gradients: each process has weights of its own."""
    import torch

    network = torch.nn.Linear(2, 2)
    torch.nn.init.constant_(network.weight, float(place.rank))
    torch.nn.init.zeros_(network.bias)
    reporter.log(f"{task.parameters.workers} processes")
    return {"drift": basics.drift(network, place), "count": place.count}


def _refuse(
    task: basics.TrainingTask, place: basics.Place, reporter: Reporter
) -> Mapping[str, Any]:
    del task, reporter
    if place.leads:
        raise Invalid("This cannot be learned.")
    time.sleep(60)
    return {}


@pytest.mark.again
def test_drift_is_seen_where_gradients_are_not_shared(single: TrainingSet, tmp_path: Path) -> None:
    told = reports.Remembering()
    figures = distributed.run(_differ, basics.TrainingTask(single, None, TWO, tmp_path), told)
    assert (figures["drift"], figures["count"]) == (4.0, 2)
    assert "2 processes" in told.lines


def test_our_own_sentences_come_through(single: TrainingSet, tmp_path: Path, ray: Any) -> None:
    task = basics.TrainingTask(single, None, TWO, tmp_path)
    with pytest.raises(Invalid, match="cannot be learned"):
        distributed.run(_refuse, task, reports.Remembering())
    assert until(lambda: busy(ray) == 0, 120)


def test_more_processes_than_cores_are_refused(single: TrainingSet, tmp_path: Path) -> None:
    many = Parameters(workers=1000, variant="resnet18", extra={"from_scratch": True})
    with pytest.raises(Refused, match="asks for 1,000 cores, and starts no nodes"):
        classifier.train(single, None, many, reports.Remembering(), tmp_path)


class Dying(basics.Silent):
    """Kills its own process once, in the second epoch."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def progress(self, fraction: float, message: str) -> None:
        """As soon as the first epoch is kept."""
        if fraction > 1 / SHORT.epochs and not self.mark.exists():
            self.mark.write_text(message)
            os.kill(os.getpid(), signal.SIGKILL)


def _die(task: basics.TrainingTask, place: basics.Place, reporter: Reporter) -> Mapping[str, Any]:
    """A training one of whose processes dies."""
    mine = reporter if place.leads else Dying(task.folder / "died.txt")
    return classifier._loop(task, place, mine)


def test_a_training_survives_the_death_of_one_of_its_processes(
    single: TrainingSet, tmp_path: Path, ray: Any
) -> None:
    told, folder = reports.Remembering(), tmp_path / "run"
    figures = distributed.run(_die, basics.TrainingTask(single, None, SHORT, folder), told)
    assert (folder / "died.txt").read_text().startswith("Epoch 2 of 4")
    assert figures["epochs"] == 4
    assert sorted(set(told.epochs)) == [1, 2, 3, 4]
    assert all(figures["drift"] == 0 for figures in told.figures)
    assert until(lambda: busy(ray) == 0 and not trainers(), 120)


AGAIN = pytest.param("classifier", marks=pytest.mark.again)


@pytest.mark.parametrize(
    "family", ["yolo", pytest.param("faster_rcnn", marks=pytest.mark.siege), AGAIN]
)
def test_real_boards_are_learned_in_two_processes(
    family: str, deeppcb: Path, weights: Path, tmp_path: Path
) -> None:
    cases: dict[str, tuple[Callable[[], TrainingSet], str, Parameters]] = {
        "yolo": (
            lambda: real_boards.boards(deeppcb),
            "yolo11n_recovered.pt",
            Parameters(epochs=3, image_size=160, batch=8, workers=2),
        ),
        "faster_rcnn": (
            lambda: real_boards.boards(deeppcb, 15),
            "mobilenet_v2_imagenet_features.pth",
            Parameters(epochs=2, image_size=160, batch=4, workers=2),
        ),
        "classifier": (
            lambda: real_boards.defects(deeppcb, tmp_path / "defects"),
            "mobilenet_v2_imagenet_features.pth",
            Parameters(epochs=2, image_size=64, batch=16, workers=2, variant="mobilenet"),
        ),
    }
    snapshot, start, given = cases[family]
    data, told = snapshot(), reports.Remembering()
    module = base.implementation(family)
    trained = module.train(data, weights / start, given, told, tmp_path / "run")
    assert told.figures[-1]["loss"] < told.figures[0]["loss"]
    assert [figures["drift"] for figures in told.figures] == [0.0] * given.epochs
    examples = [example for example in data.examples if example.split == "val"][:3]
    seen, again = (
        appraisal.look(family, trained.weights, examples, data.classes, lambda *_: None)
        for _ in range(2)
    )
    assert appraisal.report(family, seen, data.classes)
    for first, second in zip(seen.detections, again.detections, strict=True):
        assert np.allclose(first, second, atol=1e-3)


@pytest.mark.parametrize(
    ("device", "each"),
    [("cpu", {"CPU": 1}), ("gpu", {"GPU": 1, "CPU": 1, "memory": 3e9})],
)
def test_what_was_reserved_is_what_the_processes_take(
    device: str, each: dict[str, int], single: TrainingSet, tmp_path: Path, ray: Any
) -> None:
    task = basics.TrainingTask(single, None, TWO, tmp_path)
    need = Need(device, 2, each.get("memory", 0) / 1e9)
    held = Reservation(ray, need, None, growth.Asking(ray, ""))
    scaling = distributed._trainer(lambda: None, task, held, lambda _: None).scaling_config
    assert (scaling.num_workers, scaling.use_gpu) == (2, device == "gpu")
    assert scaling.resources_per_worker == each


def test_cards_talk_among_themselves_where_every_process_can_use_its_own() -> None:
    # Ray reads when it is imported how it is to start.
    from workers.training import controller

    assert controller.way([True, True]) == "nccl"
    assert controller.way([True, False]) == controller.way([False, False]) == "gloo"


def test_threads_are_shared_by_the_processes_of_a_machine() -> None:
    cores = len(os.sched_getaffinity(0))
    assert basics.threads(2) == max(1, cores // 2)
