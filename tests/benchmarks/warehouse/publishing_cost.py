"""How much slower a detection run is while its results are noted for a warehouse.

`python -m tests.benchmarks.warehouse.publishing_cost [--images 300] [--rounds 5] [--keep]`
The golden board looks at drawn boards, by turns in a house that publishes into the emulator of
Snowflake and in one that does not; the load that follows each run is timed apart, as it goes on
beside what comes next.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests import warehouses
from tests.benchmarks import results
from tests.workers.handlers import places
from tests.workers.handlers.places import Place

NAMES = ("clock", "in transactions", "processor of who writes")
Seconds = tuple[float, float, float]


def main() -> None:
    """Run by turns, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        with warehouses.emulator(folder / "emulator") as port:
            where = warehouses.place("snowflake", folder, port=port)
            rows = measure(folder, where, asked.images, asked.rounds)
    for one in rows:
        print(f"{one.what}: {one.value:g} {one.unit} ({one.spread})")
    if asked.keep:
        results.keep("publishing_cost", rows)


def measure(
    folder: Path, where: warehouses.Place, images: int, rounds: int
) -> list[results.Figure]:
    """Seconds on the clock, of writing and of the processor, off and on, and of the loads."""
    off, on = places.make(folder / "off"), places.make(folder / "on")
    publishing = warehouses.publishing(on.database, on.settings.home, where)
    projects = {id(one): one.sample(images) for one in (off, on)}
    for one in (off, on):  # what is prepared once, is
        run(one, projects[id(one)])
    publishing.load()
    seen: dict[str, list[Seconds]] = {"off": [], "on": []}
    loads = []
    for turn in range(rounds):
        order = [("off", off), ("on", on)]
        for name, one in order if turn % 2 else reversed(order):
            seen[name].append(run(one, projects[id(one)]))
        began = time.perf_counter()
        publishing.load()
        loads.append(time.perf_counter() - began)
    how = f"{images} drawn boards, golden, {rounds} rounds, {results.machine()}"
    compared_ = [row for at, name in enumerate(NAMES) for row in compared(seen, at, name)]
    load = results.Figure("a load, with its process", round(statistics.median(loads), 2), "s")
    told = f"load of the machine {os.getloadavg()[0]:.1f}"
    return [replace(one, how=how, spread=one.spread or told) for one in (*compared_, load)]


def run(home: Place, project: int) -> Seconds:
    """One run; its seconds on the clock, in transactions, and of the processor that wrote."""
    began, before = time.perf_counter(), worked()
    done = home.detect(project, options={"again": True, "workers": 1})
    return time.perf_counter() - began, float(done["parts"]["write"]), worked() - before


def compared(seen: dict[str, list[Seconds]], at: int, name: str) -> list[results.Figure]:
    """The medians, and how they compare round by round."""
    off, on = ([one[at] for one in seen[which]] for which in ("off", "on"))
    ratios = [b / a for a, b in zip(off, on, strict=True)]
    spread = f"rounds {min(ratios):.3f} to {max(ratios):.3f}"
    middle = statistics.median(on) / statistics.median(off)
    return [
        results.Figure(f"run, off, {name}", round(statistics.median(off), 3), "s"),
        results.Figure(f"run, on, {name}", round(statistics.median(on), 3), "s"),
        results.Figure(f"on / off, {name}", round(middle, 3), "x", spread),
    ]


def worked() -> float:
    """Seconds of the processor, of this process, which writes what the others find."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
