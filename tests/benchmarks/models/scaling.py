"""What one process and two bring on this machine, beside the bare torch loop of the same network.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.scaling --data facemask --family faster_rcnn

The cluster benchmark of Loupe (`loupe benchmark --workers 1,2`) over a cluster of nodes that are
raylets of this machine, and the bare loop, by turns; each process computes on one thread. The
public example that this is held against says of its face masks and Faster R-CNN: 2.6 times as
fast on two cards, and an efficiency of 10.6 % on 48 processes.
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend import settings
from backend.domain import Task
from backend.jobs import claims
from backend.labels import images, imports
from backend.labels.images import NewImage
from backend.models import trainings
from backend.models.scaling import scalings
from backend.models.scaling.scaling_plan import Plan
from backend.models.scaling.scaling_table import Line
from backend.projects import catalogue
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.results import Figure
from tests.workers.families import drawn
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers import cluster, data
from workers.families.base import Parameters
from workers.handlers.models import train
from workers.training.basics import TrainingTask

WEIGHTS = {
    "yolo": "yolo11n_recovered.pt",
    "faster_rcnn": "mobilenet_v2_imagenet_features.pth",
    "classifier": "",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=sorted(WEIGHTS), default="faster_rcnn")
    parser.add_argument("--data", choices=["facemask", "drawn"], default="facemask")
    parser.add_argument("--images", type=int, default=48)
    parser.add_argument("--size", type=int, default=320)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, nargs="*", default=[1])
    parser.add_argument("--scaling", default="strong")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lp", dir="/tmp") as folder:
        os.environ["LOUPE_HOME"] = f"{folder}/home"
        os.environ["LOUPE_RAY_ADDRESS"] = _nodes(max(asked.nodes))
        settings.current.cache_clear()
        _measure(Path(folder), asked)


def _nodes(count: int) -> str:
    """So many raylets, each of which may carry two processes; of one, the usual cluster."""
    if count == 1:
        return ""
    os.environ.update(cluster.QUIET, RAY_AUTH_MODE="disabled")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    for _ in range(count - 1):
        made.add_node(num_cpus=2)
    return str(made.address)


def _measure(folder: Path, asked: argparse.Namespace) -> None:
    place = places.make(folder / "home")
    project = _project(place, folder, asked)
    bare: dict[int, list[float]] = {1: [], 2: []}
    tables: list[Sequence[Line]] = []
    print(f"{asked}, load {os.getloadavg()[0]:.1f}", flush=True)
    for number in range(asked.rounds):
        for count in (1, 2):
            bare[count].append(_bare(place, project, folder, asked, count))
        tables.append(_ours(place, project, asked))
        print(f"round {number + 1}: bare {bare}, load {os.getloadavg()[0]:.1f}", flush=True)
        for line in tables[-1]:
            print(f"  {line}", flush=True)
    _tell(asked, bare, tables)
    place.database.close()


def _tell(
    asked: argparse.Namespace, bare: dict[int, list[float]], tables: list[Sequence[Line]]
) -> None:
    usual = {count: statistics.median(found) for count, found in bare.items()}
    rows = [Figure("bare torch, speed-up of two processes", usual[2] / usual[1], "×", _range(
        [two / one for one, two in zip(bare[1], bare[2], strict=True)]))]  # fmt: skip
    for at, line in enumerate(tables[0]):
        found = [table[at] for table in tables if table[at].rate]
        for what, unit in (("rate", "images/s"), ("speedup", "×"), ("startup", "s")):
            values = [float(getattr(each, what)) for each in found]
            if values:
                told = f"{line.name}: {what}"
                rows.append(Figure(told, statistics.median(values), unit, _range(values)))
        if line.value is not None:
            rows.append(Figure(f"{line.name}: loss", line.loss or 0.0, ""))
            rows.append(
                Figure(f"{line.name}: {line.figure}", line.value, "", f"{line.interval}; beside "
                       f"the first {line.difference_interval}, equal: {line.equal}")
            )  # fmt: skip
    how = (
        f"python -m tests.benchmarks.models.scaling --family {asked.family} --data {asked.data} "
        f"--images {asked.images} --size {asked.size} --nodes {' '.join(map(str, asked.nodes))} "
        f"--scaling {asked.scaling}"
    )
    for row in rows:
        print(f"{row.what}: {row.value:.3f} {row.unit} ({row.spread})")
    if asked.keep:
        results.keep("scaling", [Figure(r.what, round(r.value, 3), r.unit, r.spread, how=how)
                                 for r in rows])  # fmt: skip


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def _project(place: Place, folder: Path, asked: argparse.Namespace) -> int:
    if asked.family == "classifier":
        return _shapes(place, folder, asked.images)
    if asked.data == "drawn":
        return place.sample(asked.images)
    source, chosen = real_data.unpacked("facemask"), folder / "faces"
    for name in ("annotations", "images_jpg"):
        (chosen / name).mkdir(parents=True)
    for picture in sorted((source / "images_jpg").glob("*.jpg"))[: asked.images]:
        shutil.copy(picture, chosen / "images_jpg")
        shutil.copy(source / "annotations" / f"{picture.stem}.xml", chosen / "annotations")
    into = imports.Into(place.database, place.files, "faces", "")
    imports.run(into, chosen, place.settings)
    with place.database.read() as session:
        return catalogue.find(session, "faces").id


def _shapes(place: Place, folder: Path, count: int) -> int:
    single = drawn.single(folder / "pictures", count)
    with place.database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, drawn.CLASSES).id
        new = [
            NewImage(
                one.name, place.files.put_file(one.path), 64, 64, label=one.label,
                split=one.split, labelled=True,
            )
            for one in single.examples
        ]  # fmt: skip
        images.add(session, project, new, "")
    return project


def _values(asked: argparse.Namespace) -> dict[str, Any]:
    return {"epochs": asked.epochs, "image_size": asked.size, "batch": asked.batch, "patience": 0}


def _start(asked: argparse.Namespace) -> str:
    name = WEIGHTS[asked.family]
    return str(real_data.weights() / name) if name else "scratch"


def _ours(place: Place, project: int, asked: argparse.Namespace) -> Sequence[Line]:
    plan = Plan((1, 2), asked.nodes, (1, 2), asked.scaling, 1, "cpu", 1)
    with place.database.write.begin() as session:
        job = scalings.ask(
            session, project, asked.family, plan, start=_start(asked), parameters=_values(asked),
            seed=1,
        )  # fmt: skip
    place.carry_out(place.claim())
    with place.database.read() as session:
        return scalings.of_job(session, job.id).lines


def _bare(place: Place, project: int, folder: Path, asked: argparse.Namespace, count: int) -> float:
    """Images a second of so many processes: the median of the epochs after the first."""
    task = _task(place, project, folder, asked, count)
    path = folder / "task"
    path.write_bytes(pickle.dumps((asked.family, task)))
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "tests.benchmarks.models.bare", str(path)]
    threads = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen([*command, str(rank), str(port)], stdout=subprocess.PIPE, env=threads)
        for rank in range(count)
    ]
    said = [process.communicate(timeout=1800)[0] for process in started]
    assert not any(process.returncode for process in started)
    return statistics.median(float(line) for line in said[0].split())


def _task(
    place: Place, project: int, folder: Path, asked: argparse.Namespace, count: int
) -> TrainingTask:
    """What a training of ours would learn from, on so many processes."""
    with place.database.write.begin() as session:
        trainings.retrain(
            session, project, asked.family, start=_start(asked), parameters=_values(asked), seed=1
        )
    context = place.context(place.claim())
    request = context.job.request
    laid_out = data.lay_out(context, int(request["snapshot_id"]))
    start = train.started_from(context, str(request["start"]), laid_out)
    with place.database.write.begin() as session:
        claims.finish(session, context.job, {})
    given = Parameters(**{**request["parameters"], "workers": count, "device": "cpu"})
    made = folder / f"bare-{count}"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    return TrainingTask(laid_out.set, start, given, made)


if __name__ == "__main__":
    main()
