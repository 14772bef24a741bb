"""Whether a classifier's run over 10,000 pictures has one answer each, whatever is killed.

`python -m tests.benchmarks.runs.classified_kills [--images N --keep]`

Ten times something is killed: the worker, the process of the job, or one of those that look, in an
order drawn by a seed, spread over the run.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import torch
from sqlalchemy import func, select

from backend.domain import FINAL, JobState, Task
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import registry
from backend.projects import catalogue
from backend.runs import detection
from backend.storage import findings
from backend.storage.files import Files
from backend.storage.tables import DetectionRow, RunImageRow
from tests.backend.labels import drawn
from tests.benchmarks import results
from tests.benchmarks.results import Figure
from tests.workers import running
from tests.workers.running import House
from workers.families import classifier
from workers.weights import weight_files

NAMES = ("good", "scratched", "wrong part", "bent")
WORKER = "-m workers"
KILLS = (*(WORKER,) * 4, *("workers.runner",) * 3, *("ray::Looker",) * 3)
PATIENCE = 600.0


def main() -> None:
    """Run, kill, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="loupe-kills-") as folder,
        running.house(Path(folder), lease=5.0) as house,
    ):
        rows = measure(house, asked.images)
    for row in rows:
        print(f"{row.what}: {row.value:g} {row.unit} {row.spread}")
    if asked.keep:
        results.keep("classified_kills", rows)


def measure(house: House, count: int) -> list[Figure]:
    """A run with its kills, and what stands afterwards."""
    project = _project(house, count)
    with house.database.write.begin() as session:
        run = detection.ask(session, project, "champion", options={"ray": True}).id
    began = time.monotonic()
    house.start_worker()
    killed = _kill(house, run, count)
    job = house.until_ended(run, PATIENCE)
    took, load = time.monotonic() - began, os.getloadavg()[1]
    assert job.state is JobState.DONE, job.error
    per_image, strange = _answers(house, run)
    once = sum(number == 1 for number in per_image.values())
    house.stop()
    house.until_empty(60.0)
    how = f"{count:,} pictures of 64×48, MobileNet, {results.machine()}"
    told = ", ".join(f"{number} × {what}" for what, number in killed.items())
    figures = (
        ("kills", sum(killed.values()), "", told),
        ("pictures with one answer", once, "", ""),
        ("pictures with none, or with several", count - once, "", ""),
        ("answers without the chances of all classes", strange, "", ""),
        ("from start to end", took, "s", f"load {load:.0f}"),
    )
    return [Figure(what, value, unit, spread, how=how) for what, value, unit, spread in figures]


def _project(house: House, count: int) -> int:
    """Pictures of which none is like another, and a network that has learned nothing."""
    store = Files(str(house.home / "files"), house.home / "cache")
    torch.manual_seed(3)
    network = classifier.build("mobilenet", len(NAMES))
    header = weight_files.WeightsHeader(classifier.FAMILY, "mobilenet", NAMES, 96)
    path = weight_files.save(house.home / "m.safetensors", header, network.state_dict())
    new = [NewImage(f"{n:05}", store.put(drawn.numbered(n + 1)), 64, 48) for n in range(count)]
    with house.database.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, NAMES)
        images.add(session, project.id, new, "ann")
        model = registry.add(
            session, project.id, "classifier", classes=NAMES, snapshot_id=None, parameters={}
        )
        registry.complete(session, model.id, store.put(path.read_bytes()), {})
    return project.id


def _kill(house: House, run: int, count: int) -> Counter[str]:
    """Kill one after the other, each when so much more of the run is written."""
    chance, killed = random.Random(5), Counter[str]()
    kills = list(KILLS)
    chance.shuffle(kills)
    for number, what in enumerate(kills):
        mark = count * number // (len(kills) + 1)
        house.until_true(functools.partial(_has, house, run, mark), PATIENCE)
        house.until_true(functools.partial(_kill_one, house, run, what, chance), PATIENCE)
        killed[what] += 1
        if what == WORKER:
            house.start_worker()
    return killed


def _has(house: House, run: int, mark: int) -> bool:
    with house.database.read() as session:
        query = select(func.count()).select_from(RunImageRow).filter_by(run_id=run)
        return (session.scalar(query) or 0) >= mark


def _kill_one(house: House, run: int, what: str, chance: random.Random) -> bool:
    assert house.get(run).state not in FINAL, "The run is over: ask for more pictures."
    found = _alive(house, what)
    if not found:
        return False
    with suppress(psutil.NoSuchProcess):
        chance.choice(found).send_signal(signal.SIGKILL)
    return True


def _alive(house: House, what: str) -> Sequence[psutil.Process]:
    lines = [(one, running.line(one)) for one in house.processes()]
    return [one for one, line in lines if (line.endswith(what) if what == WORKER else what in line)]


def _answers(house: House, run: int) -> tuple[Counter[int], int]:
    """How many answers each picture has, and how many of them lack the chance of a class."""
    with house.database.read() as session:
        seen = Counter(session.scalars(select(RunImageRow.image_id).filter_by(run_id=run)))
        assert set(seen.values()) <= {1}
        found = Counter(session.scalars(select(DetectionRow.image_id).filter_by(run_id=run)))
        facts = session.scalars(select(RunImageRow.facts).filter_by(run_id=run))
        return found, sum(len(one.get(findings.CHANCES, ())) != len(NAMES) for one in facts)


if __name__ == "__main__":
    main()
