"""How busy a search keeps made-up devices, and what its own process takes of a core meanwhile.

`python -m tests.benchmarks.models.search_devices [DEVICES] [TRIALS] [SECONDS] [SHARE] [--keep]`.
Real Ray, one node, an actor a device; each trial sleeps as a card would compute. A device is busy
as long as its trials last, from the first one's start to the last one's end as its process saw it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from backend import families, spaces
from backend.domain import Task
from backend.families import Family
from backend.models import searches, trials
from tests.benchmarks import results
from tests.benchmarks.models import sleeping
from tests.benchmarks.results import Figure
from tests.workers.handlers import places
from tests.workers.tuning import curves, nodes
from workers import handlers, runner

FAMILY = Family(sleeping.NAME, "Sleeping", Task.DETECT, sleeping.__name__, {})
HERE = "tests.benchmarks.models.search_devices"
Spans = dict[str, list[tuple[float, float]]]


def prepare() -> None:
    """Add the rows that every family has."""
    families.FAMILIES[sleeping.NAME] = FAMILY
    spaces.TUNABLES[sleeping.NAME] = (curves.RATE,)  # type: ignore[index]


def main(devices: int, count: int, seconds: float, share: float, keep: bool) -> None:
    """One search; prints how busy devices and driver were."""
    prepare()
    with tempfile.TemporaryDirectory() as folder, nodes.cluster(devices, cores=128) as cluster:
        place = places.make(Path(folder) / "home")
        project = place.sample(12)
        with place.database.write.begin() as session:
            begun = searches.ask(
                session, project, sleeping.NAME, trials=count, seed=1, share=share,
                parameters={"epochs": 1, "learning_rate": 1e-4, "extra": {"pause": seconds}},
            )  # fmt: skip
        story = place.settings.home / "jobs" / str(begun.job.id) / "times.txt"
        process = _start(place.settings.home, cluster)
        used, wall = _followed(process, story, count)
        with place.database.read() as session:
            found = trials.of_search(session, begun.search.id)
        place.database.close()
        spans = _spans(story)
    names = {one.device for one in found}
    busy = [_busy(one) for one in spans.values()]
    asked = f"{devices} devices, {count} trials of {seconds:g} s, {share:g} of a device each"
    rows = [
        Figure("busy from its first trial to its last, of all places", sum(busy) / len(busy) * 100,
               "%", f"{min(busy):.1%} to {max(busy):.1%}; {len(busy)} actors, {len(names)} places"),
        Figure("of a core for the search's own process", used / wall * 100, "%",
               f"{used:.1f} s of {wall:.0f}, load {os.getloadavg()[0]:.0f}"),
    ]  # fmt: skip
    for row in rows:
        print(f"{asked}: {row.what}: {row.value:.1f} {row.unit} ({row.spread})")
    if keep:
        how = f"{devices} {count} {seconds:g} {share:g}"
        told = [replace(row, value=round(row.value, 1), how=how) for row in rows]
        results.keep("search_devices", told)


def _start(home: Path, cluster: nodes.Nodes) -> subprocess.Popen[bytes]:
    own = {"LOUPE_HOME": str(home), "LOUPE_MLFLOW_URI": "off", **cluster.settings}
    command = [sys.executable, "-m", HERE, "attempt", str(home)]
    return subprocess.Popen(command, env={**os.environ, **own})


def _followed(process: subprocess.Popen[bytes], story: Path, count: int) -> tuple[float, float]:
    """The processor seconds of the driver from the first trial's end to the last one's, and these.

    All of its threads count, those of Ray as well.
    """
    driver, first = psutil.Process(process.pid), (0.0, 0.0)
    last = first
    while process.poll() is None and _count(story) < count:
        if story.is_file():
            now = time.monotonic(), sum(driver.cpu_times()[:2])
            first, last = (first if first[0] else now), now
        time.sleep(0.5)
    process.wait()
    return last[1] - first[1], last[0] - first[0]


def _count(story: Path) -> int:
    return len(story.read_text().splitlines()) if story.is_file() else 0


def _spans(story: Path) -> Spans:
    found: Spans = defaultdict(list)
    for line in story.read_text().splitlines():
        who, began, ended = line.split()
        found[who].append((float(began), float(ended)))
    return found


def _busy(spans: Sequence[tuple[float, float]]) -> float:
    whole = max(end for _, end in spans) - min(begin for begin, _ in spans)
    return sum(end - begin for begin, end in spans) / whole


def _attempt(home: Path) -> None:
    """As a worker's runner does it."""
    prepare()
    place = places.make(home)
    job = place.claim()
    runner.carry_out(place.database, job, lambda: handlers.find(job.kind).run(place.context(job)))
    place.database.close()


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("devices", type=int, nargs="?", default=64)
    parser.add_argument("trials", type=int, nargs="?", default=500)
    parser.add_argument("seconds", type=float, nargs="?", default=10.0)
    parser.add_argument("share", type=float, nargs="?", default=1.0)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    if sys.argv[1:2] == ["attempt"]:
        _attempt(Path(sys.argv[2]))
    else:
        asked = _asked()
        main(asked.devices, asked.trials, asked.seconds, asked.share, asked.keep)
