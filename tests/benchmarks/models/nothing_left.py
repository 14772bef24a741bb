"""What is left of twenty searches and cluster benchmarks, half of them cancelled, some killed.

`python -m tests.benchmarks.models.nothing_left [--jobs 20] [--keep]`. A real worker carries them
out one after the other on a cluster of its own folder; then Ray's state, its processes, the temp
folder and the home are looked through.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psutil

from backend.domain import FINAL, Job, JobState
from backend.jobs import queue
from backend.models import searches
from backend.models.scaling import scalings
from backend.models.scaling.scaling_plan import Plan
from tests.benchmarks import results
from tests.benchmarks.models import scaling
from tests.benchmarks.results import Figure
from tests.workers import running
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from tests.workers.running import House
from tests.workers.tuning import nodes
from tests.workers.tuning.nodes import Nodes

RAYS_OWN = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")
FATES = ("cancelled", "left alone", "cancelled", "killed")
SMALL = {"variant": "small", "image_size": 32, "batch": 4, "epochs": 2}
STATE = """
import json, ray, sys
from ray._private import state
ray.init(address=sys.argv[1], log_to_driver=False)
actors = [one for one in state.actors().values() if one["State"] != "DEAD"]
groups = [one for one in ray.util.placement_group_table().values() if one["state"] != "REMOVED"]
alive = [one for one in ray.nodes() if one["Alive"]]
print(json.dumps([len(actors), len(groups), len(alive)]))
"""


def main(jobs: int, keep: bool) -> None:
    """One job after the other, then a look at all that they might have left."""
    chance, became = random.Random(7), Counter[str]()
    with (
        tempfile.TemporaryDirectory(prefix="nl", dir="/tmp") as folder,
        nodes.cluster(0, cores=2) as cluster,
    ):
        home, temp = Path(folder) / "home", Path(folder) / "temp"
        for made in (home, temp):
            made.mkdir()
        with running.house(home) as house:
            place = places.make(home)
            boards, parts = place.sample(24), scaling.shapes(place, Path(folder) / "parts", 96)
            house.start_worker(LOUPE_MLFLOW_URI="off", TMPDIR=str(temp), **cluster.settings)
            for number in range(jobs):
                job = _asked(place, boards, parts, number)
                fate = FATES[number // 2 % len(FATES)]
                ended = _fare(house, place, job.id, fate, chance)
                became[f"{fate}: {ended.state}"] += 1
                print(f"{number + 1}: {job.kind}, {fate}: {ended.state} {ended.error}", flush=True)
            rows = _left(house, cluster, home, temp)
            place.database.close()
    told = ", ".join(f"{count} {what}" for what, count in sorted(became.items()))
    rows.insert(0, Figure("jobs", jobs, "", told))
    for row in rows:
        print(f"{row.what}: {row.value:g} {row.unit} {row.spread}")
    if keep:
        how = f"--jobs {jobs}"
        results.keep("nothing_left", [replace(row, how=how) for row in rows])


def _asked(place: Place, boards: int, parts: int, number: int) -> Job:
    """By turns a search and a benchmark."""
    with place.database.write.begin() as session:
        if number % 2 == 0:
            given = {"device": "cpu"}
            return searches.ask(session, boards, "golden", trials=6, parameters=given).job
        plan = Plan((1, 2), repeats=1, device="cpu", cores=1)
        return scalings.ask(session, parts, "classifier", plan, parameters=SMALL, seed=1)


def _fare(house: House, place: Place, id: int, fate: str, chance: random.Random) -> Job:
    """What is done to a job some seconds after its begin, and how it ends."""
    house.until(id, lambda job: job.state is JobState.RUNNING or job.state in FINAL)
    if fate == "left alone":
        return house.until_ended(id)
    time.sleep(chance.uniform(1.0, 12.0))
    if fate == "cancelled" and house.get(id).state not in FINAL:
        with place.database.write.begin() as session:
            queue.cancel(session, id)
    if fate == "killed":
        for process in house.processes():
            if "workers.runner" in running.line(process):
                process.kill()
    return house.until_ended(id)


def _left(house: House, cluster: Nodes, home: Path, temp: Path) -> list[Figure]:
    """What there is after the last job, and after the worker."""
    time.sleep(5)  # in which those that were told to end may do so
    actors, groups, alive = _state(cluster)
    named = [running.line(one) for one in psutil.process_iter()]
    busy = [one for one in named if one.startswith("ray::") and not one.startswith(RAYS_OWN)]
    jobs = [one.name for one in (home / "jobs").glob("*")]
    house.stop()
    house.until_empty()
    folders = [one.name for one in temp.iterdir()]
    return [
        Figure("actors of theirs on the cluster", actors, ""),
        Figure("reservations", groups, ""),
        Figure("nodes, of the one that was started", alive, ""),
        Figure("processes that carry something out for Ray", len(busy), "", "; ".join(busy)[:300]),
        Figure("folders of jobs in the home", len(jobs), "", " ".join(jobs)),
        Figure("temp folders after the worker", len(folders), "", " ".join(folders)),
    ]


def _state(cluster: Nodes) -> tuple[int, int, int]:
    command = [sys.executable, "-c", STATE, cluster.address]
    own = {**os.environ, **cluster.settings, "RAY_USAGE_STATS_ENABLED": "0"}
    said = subprocess.run(command, env=own, capture_output=True, text=True, check=True).stdout
    actors, groups, alive = json.loads(said.splitlines()[-1])
    return actors, groups, alive


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    main(asked.jobs, asked.keep)
