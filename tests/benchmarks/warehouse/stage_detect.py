"""How fast pictures of a stage are looked at, beside the same ones in a folder.

`python -m tests.benchmarks.warehouse.stage_detect [--images 200] [--rounds 3] [--keep]`
DeepPCB's test pictures and the YOLO that has learned it, by turns; the first run from the stage
fetches them, the others find them in the store.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import select

from backend.settings import Settings
from backend.storage import engine, files, schema
from backend.storage.tables import RunImageRow, RunRow
from tests import real_data, warehouses
from tests.benchmarks import results
from tests.workers.handlers.places import Place

STAGE = "@pictures/july"


def main() -> None:
    """By turns, and compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        with warehouses.emulator(folder / "emulator") as port:
            where = warehouses.place("snowflake", folder, port=port)
            os.environ.update(where.environment)
            drawn = chosen(folder / "pictures", asked.images)
            where.put(drawn, STAGE)
            rows = measure(home(folder, where), drawn, asked.rounds)
    for one in rows:
        print(f"{one.what}: {one.value:g} {one.unit} ({one.spread})")
    if asked.keep:
        results.keep("stage_detect", rows)


def chosen(folder: Path, count: int) -> Path:
    """So many pictures, in folders as they were."""
    there = real_data.unpacked("deeppcb")
    for one in sorted(there.rglob("*_test.jpg"))[:count]:
        target = folder / one.relative_to(there)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(one, target)
    return folder


def home(folder: Path, where: warehouses.Place) -> Place:
    """A house whose warehouse is that Snowflake."""
    settings = Settings(home=folder / "home", warehouse_url=SecretStr(where.url))
    settings.home.mkdir(parents=True)
    database = engine.connect(settings)
    schema.prepare(database)
    return Place(settings, database, files.connect(settings))


def measure(place: Place, folder: Path, rounds: int) -> list[results.Figure]:
    """Images a second of whole jobs, and how they compare."""
    run(place, str(folder))  # the graph is made once
    first = run(place, STAGE)
    seen: dict[str, list[float]] = {str(folder): [], STAGE: []}
    for turn in range(rounds):
        for source in (str(folder), STAGE) if turn % 2 else (STAGE, str(folder)):
            seen[source].append(run(place, source))
    named(place, folder)
    local, staged = (statistics.median(one) for one in seen.values())
    ratios = [b / a for a, b in zip(*seen.values(), strict=True)]
    count = len(list(folder.rglob("*.jpg")))
    spread = f"rounds {min(ratios):.2f} to {max(ratios):.2f}"
    rows = [
        results.Figure("from a folder", round(local, 2), "images/s"),
        results.Figure("from the stage, fetched now", round(first, 2), "images/s"),
        results.Figure("from the stage, fetched before", round(staged, 2), "images/s"),
        results.Figure("stage / folder", round(staged / local, 3), "x", spread),
    ]
    how = f"{count} boards of DeepPCB, YOLO11n, {rounds} rounds, {results.machine()}"
    told = f"load of the machine {os.getloadavg()[0]:.1f}"
    return [replace(one, how=how, spread=one.spread or told) for one in rows]


def run(place: Place, source: str) -> float:
    """Images a second of a job, with all that it does."""
    weights = str(real_data.weights() / "yolo11n_deeppcb.pt")
    began = time.perf_counter()
    done: dict[str, Any] = place.detect(
        None, weights, source={"path": source}, options={"again": True, "workers": 1}
    )
    assert not done.get("failed"), done
    return float(done["images"]) / (time.perf_counter() - began)


def named(place: Place, folder: Path) -> None:
    """The rows of a run name the stage and the path on it."""
    with place.database.read() as session:
        runs = list(session.scalars(select(RunRow).order_by(RunRow.id)))
        last = next(one for one in reversed(runs) if one.source.get("path") == STAGE)
        names = set(session.scalars(select(RunImageRow.name).filter_by(run_id=last.id)))
    assert names == {one.relative_to(folder).as_posix() for one in folder.rglob("*.jpg")}


if __name__ == "__main__":
    main()
