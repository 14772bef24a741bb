"""What a search brings on real boards: a fifth of DeepPCB, the best trial against the defaults.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.models.search_deeppcb [--family yolo --trials 20
        --epochs 8 --size 320 --every 5 --keep]

Every fifth pair of trainval teaches, one in six of them validates; every fifth
of the test split is looked at once, at the end, for the best trial and the defaults.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import select

from backend.domain import Split
from backend.labels import imports
from backend.models import searches, trials
from backend.projects import catalogue
from backend.storage.tables import ImageRow
from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.results import Figure
from tests.workers.handlers import places
from tests.workers.handlers.places import Place

VALIDATED = 6  # one image in so many of those that teach


def main() -> None:
    """One search, a line a trial, and what the held-out images say."""
    asked = _asked()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        place = places.make(Path(made) / "home")
        project = brought(place, Path(made) / "PCBData", asked.every)
        given = {"epochs": asked.epochs, "image_size": asked.size, "batch": 8}
        with place.database.write.begin() as session:
            begun = searches.ask(
                session, project, asked.family, trials=asked.trials, seed=1, parameters=given
            )
        began = time.monotonic()
        told = place.carry_out(place.claim())
        seconds = time.monotonic() - began
        rows = _rows(place, begun.search.id, told, seconds, asked.epochs)
        place.database.close()
    for row in rows:
        print(f"{row.what}: {row.value:g} {row.unit} ({row.spread})")
    if asked.keep:
        results.keep("search_deeppcb", [_how(row, asked) for row in rows])


def brought(place: Place, folder: Path, every: int) -> int:
    """A project of every so many pairs; gives its number."""
    _share(real_data.unpacked("deeppcb") / "PCBData", folder, every)
    into = imports.Into(place.database, place.files, "deeppcb", "benchmark")
    done = imports.run(into, folder, place.settings)
    print(f"{done.images} images, {done.goldens} goldens, {len(done.problems)} problems")
    with place.database.write.begin() as session:
        project = catalogue.find(session, "deeppcb").id
        teaching = select(ImageRow).filter_by(project_id=project, is_golden=False)
        rows = [row for row in session.scalars(teaching) if row.split != Split.TEST]
        for number, row in enumerate(sorted(rows, key=lambda one: one.name)):
            row.split = Split.VAL if number % VALIDATED == 0 else Split.TRAIN
    return project


def _share(source: Path, folder: Path, every: int) -> None:
    """Every so many pairs of each list, laid out as DeepPCB is."""
    for part in ("trainval", "test"):
        lines = (source / f"{part}.txt").read_text().splitlines()[::every]
        for line in lines:
            picture, labels = line.split()
            stem = picture.removesuffix(".jpg")
            for name in (f"{stem}_test.jpg", f"{stem}_temp.jpg", labels):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / name, folder / name)
        (folder / f"{part}.txt").write_text("\n".join(lines) + "\n")


def _rows(
    place: Place, search: int, told: Mapping[str, Any], seconds: float, epochs: int
) -> list[Figure]:
    with place.database.read() as session:
        found = trials.of_search(session, search)
    done = sum(len(one.epochs) for one in found)
    for one in found:
        print(one.number, one.state, len(one.epochs), one.value, dict(one.parameters), one.error)
    share = f"{done} of {len(found) * epochs} epochs, best is trial {told['best']}"
    load = f"load {os.getloadavg()[2]:.0f}"
    figure = str(told["figure"])
    return [
        Figure("time", round(seconds), "s", f"{share}, {load}"),
        Figure(f"trial 0, validation {figure}", round(found[0].value or 0.0, 4), ""),
        Figure(f"best, validation {figure}", round(told["value"], 4), "", str(told["parameters"])),
        Figure(f"best, held-out {figure}", round(told["held_out"], 4), "", str(told["verdict"])),
    ]


def _how(row: Figure, asked: argparse.Namespace) -> Figure:
    how = (
        f"{asked.family}, {asked.trials} trials of at most {asked.epochs} epochs at {asked.size} "
        f"pixels, every {asked.every}th pair, {results.machine()}"
    )
    return Figure(row.what, row.value, row.unit, row.spread, how=how)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="yolo")
    for name, size in (("trials", 20), ("epochs", 8), ("size", 320), ("every", 5)):
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
