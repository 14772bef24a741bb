"""What one process and two bring on this machine, beside the bare torch loop of the same network.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.scaling --every --keep
    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.scaling --data facemask --family faster_rcnn

The cluster benchmark of Loupe (`loupe benchmark --workers 1,2`) over a cluster of nodes that are
raylets of this machine, and the bare loop, by turns; each process computes on one thread. `--every`
does so for all families, strong and weak, on one node and two, and for made-up devices, each in a
process of its own. The public example that this is held against says of its face masks and Faster
R-CNN: 2.6 times as fast on two cards, and an efficiency of 10.6 % on 48 processes.
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
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Run

from backend import settings
from backend.domain import Task
from backend.jobs import claims
from backend.labels import images, imports
from backend.labels.images import NewImage
from backend.models import trainings
from backend.models.scaling import scalings
from backend.models.scaling.scaling_plan import STRONG, Plan
from backend.models.scaling.scaling_table import Line
from backend.projects import catalogue
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.results import Figure
from tests.workers.families import drawn
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.scaling import devices
from workers import cluster, data
from workers.families.base import Parameters
from workers.handlers.models import train
from workers.tracking import store, telling
from workers.training.basics import TrainingTask

WEIGHTS = {
    "yolo": "yolo11n_recovered.pt",
    "faster_rcnn": "mobilenet_v2_imagenet_features.pth",
    "classifier": "",
    devices.NAME: "",
}
MANY = (1, 2, 4, 8, 16, 32, 64)
# What `--every` measures; weak, and made up, beside no bare loop.
EVERY = (
    "--family classifier --size 64 --images 480 --nodes 1 2",
    "--family yolo --data drawn --nodes 1 2",
    "--family faster_rcnn --data facemask --nodes 1 2",
    "--family classifier --size 64 --images 480 --scaling weak",
    "--family yolo --data drawn --scaling weak",
    "--family faster_rcnn --data facemask --scaling weak",
    f"--family {devices.NAME} --size 64 --images 96 --batch 64",
)
# What the public example of face masks on several cards says of itself.
EXAMPLE = (("2 cards", 2.6, "×"), ("48 processes, of what they could bring", 10.6, "%"))


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
    parser.add_argument("--every", action="store_true")
    asked = parser.parse_args()
    if asked.every:
        _measure_every(asked)
        return
    with tempfile.TemporaryDirectory(prefix="lp", dir="/tmp") as folder:
        os.environ["LOUPE_HOME"] = f"{folder}/home"
        os.environ["LOUPE_RAY_ADDRESS"] = _nodes(max(asked.nodes))
        settings.current.cache_clear()
        _measure(Path(folder), asked)


def _measure_every(asked: argparse.Namespace) -> None:
    """One after the other, so that none inherits a cluster from another."""
    for each in EVERY:
        began = time.monotonic()
        command = [sys.executable, "-m", "tests.benchmarks.models.scaling", *each.split()]
        command += ["--rounds", str(asked.rounds), *["--keep"] * asked.keep]
        subprocess.run(command, check=True)
        print(f"{each}: {time.monotonic() - began:.0f} s\n", flush=True)


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
    devices.prepare()
    place = places.make(folder / "home")
    project = _project(place, folder, asked)
    compared = asked.scaling == STRONG and asked.family != devices.NAME
    bare: dict[int, list[float]] = {1: [], 2: []} if compared else {}
    tables: list[Sequence[Line]] = []
    print(f"{asked}, load {os.getloadavg()[0]:.1f}", flush=True)
    for number in range(asked.rounds):
        for count in bare:
            bare[count].append(_bare(place, project, folder, asked, count))
        tables.append(_ours(place, project, asked, looks=compared and number == 0))
        print(f"round {number + 1}: bare {bare}, load {os.getloadavg()[0]:.1f}", flush=True)
        for line in tables[-1]:
            print(f"  {line}", flush=True)
    told = _in_mlflow(place)
    place.database.close()
    _tell(asked, bare, tables, told)


def _in_mlflow(place: Place) -> list[Run]:
    """What mlflow's own client reads of the benchmark's runs, once all was told."""
    telling.Teller(place.database, place.settings, place.files, look=0.1, idle=0.5).run()
    client = MlflowClient(tracking_uri=store.uri(place.settings))
    known = [one.experiment_id for one in client.search_experiments()]
    return [run for run in client.search_runs(known) if run.info.run_name.startswith("benchmark")]


def _tell(
    asked: argparse.Namespace,
    bare: dict[int, list[float]],
    tables: list[Sequence[Line]],
    told: list[Run],
) -> None:
    rows = [*_bare_rows(bare), *(row for line in tables[0] for row in _rows(line, tables))]
    if asked.family == "faster_rcnn" and asked.data == "facemask" and bare:
        rows += [Figure(f"the public example, {what}", at, unit) for what, at, unit in EXAMPLE]
    figures = [run for run in told if "rate" in run.data.metrics]
    rows.append(Figure("runs in mlflow, each with its images a second", len(figures), ""))
    how = (
        f"--family {asked.family} --data {asked.data} --images {asked.images} --size {asked.size} "
        f"--epochs {asked.epochs} --batch {asked.batch} --rounds {asked.rounds} "
        f"--nodes {' '.join(map(str, asked.nodes))} --scaling {asked.scaling}"
    )
    for row in rows:
        print(f"{row.what}: {row.value:.3f} {row.unit} ({row.spread})")
    if asked.keep:
        results.keep("scaling", [replace(row, value=round(row.value, 3), how=how) for row in rows])


def _bare_rows(bare: dict[int, list[float]]) -> Iterator[Figure]:
    for count, found in bare.items():
        what = f"bare torch, {count} on 1 node: images/s"
        yield Figure(what, statistics.median(found), "images/s", _range(found))
    if bare:
        found = [two / one for one, two in zip(bare[1], bare[2], strict=True)]
        yield Figure(
            "bare torch, 2 on 1 node: speed-up", statistics.median(found), "×", _range(found)
        )


def _rows(line: Line, tables: list[Sequence[Line]]) -> Iterator[Figure]:
    """The medians of a configuration over all rounds, and what it learned in the first one."""
    found = [one for table in tables for one in table if one.name == line.name and one.rate]
    kinds = (("rate", "images/s"), ("speedup", "×"), ("efficiency", "×"), ("startup", "s"))
    for what, unit in kinds:
        values = [float(value) for one in found if (value := getattr(one, what)) is not None]
        if values:
            yield Figure(f"{line.name}: {what}", statistics.median(values), unit, _range(values))
    if line.value is not None:
        yield Figure(f"{line.name}: loss", line.loss or 0.0, "")
        beside = f"; beside the first {line.difference_interval}, equal: {line.equal}"
        worth = f"{line.interval}{beside * (line.equal is not None)}"
        yield Figure(f"{line.name}: {line.figure}", line.value, "", worth)
    if line.error:
        yield Figure(f"{line.name}: not measured", 0.0, "", line.error)


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def _project(place: Place, folder: Path, asked: argparse.Namespace) -> int:
    if asked.family in ("classifier", devices.NAME):
        return shapes(place, folder, asked.images)
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


def shapes(place: Place, folder: Path, count: int) -> int:
    """A project of drawn pictures with a class each; gives its id."""
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


def _ours(place: Place, project: int, asked: argparse.Namespace, looks: bool) -> Sequence[Line]:
    counts, actors = MANY if asked.family == devices.NAME else (1, 2), (1, 2) if looks else ()
    plan = Plan(counts, asked.nodes, actors, asked.scaling, 1, "cpu", 1)
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
