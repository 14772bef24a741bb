"""How quick a sweep is through 100,000 classified pictures, of which a tenth is answered.

`python -m tests.benchmarks.review.sweep_speed [--images N --keep]`
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from backend.domain import Run, Task
from backend.projects import catalogue
from backend.review import sweeping, views
from backend.review.sweeping import After
from backend.storage import engine, findings
from backend.storage.engine import Database
from backend.storage.tables import DecisionRow, DetectionRow, ImageRow, RunImageRow
from backend.storage.types import now
from tests import databases
from tests.benchmarks import results
from tests.benchmarks.results import Figure

RUN = 1
CLASSES = tuple(f"class {at}" for at in range(10))
SCREEN = 96
SCREENS = 30


def fill(database: Database, count: int) -> None:
    """Images, one run that answers what each is, and answers of people on a tenth."""
    rng = np.random.default_rng(1)
    with database.write.begin() as session:
        project = catalogue.create(session, "large", Task.CLASSIFY, CLASSES)
        numbers = range(1, count + 1)
        engine.bulk_insert(session, ImageRow, [_image(project.id, n) for n in numbers])
        at = datetime.now(UTC)
        findings.start(session, Run(RUN, "v1", "classifier", at, project_id=project.id))
        ids = [one.id for one in project.classes]
        scores = rng.beta(6, 1.5, count)
        engine.bulk_insert(session, RunImageRow, [_seen(n, scores[n - 1]) for n in numbers])
        found = [_found(n, ids[n % 10], scores[n - 1]) for n in numbers]
        engine.bulk_insert(session, DetectionRow, found)
        engine.bulk_insert(session, DecisionRow, [_said(n) for n in numbers if n % 100 < 10])
    with database.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        connection.commit()


def _image(project_id: int, number: int) -> dict[str, object]:
    return {
        "id": number,
        "project_id": project_id,
        "name": f"part-{number:06}",
        "sha256": f"{number:064}",
        "width": 32,
        "height": 32,
        "added": now(),
        "group_name": "",
        "is_golden": False,
        "state": "new",
        "version": 0,
        "comment": "",
        "author": "",
        "box_count": 0,
    }


def _seen(number: int, score: float) -> dict[str, object]:
    return {
        "run_id": RUN,
        "image_id": number,
        "name": f"part-{number:06}",
        "sha256": f"{number:064}",
        "status": "ok",
        "detection_count": 1,
        "doubt": 1 - float(score),
        "best": float(score),
        "facts": {},
    }


def _found(number: int, class_id: int, score: float) -> dict[str, object]:
    return {
        "run_id": RUN,
        "image_id": number,
        "idx": 0,
        "class_id": class_id,
        "label": "",
        "score": float(score),
        "x1": 0.0,
        "y1": 0.0,
        "x2": 32.0,
        "y2": 32.0,
    }


def _said(number: int) -> dict[str, object]:
    return {
        "run_id": RUN,
        "image_id": number,
        "idx": 0,
        "verdict": "accept",
        "author": "ana",
        "at": now(),
        "seconds": 1.0,
        "box": {},
    }


def measure(database: Database) -> tuple[float, list[float], float]:
    """Milliseconds of the first screen with its counts, of those after it, and what our own core
    works for one of these."""
    began = time.perf_counter()
    with database.write.begin() as session:
        screen = sweeping.take(session, RUN, CLASSES[3], "one", "ana", count=SCREEN)
        views.wall_classes(session, RUN)
    first = time.perf_counter() - began
    later: list[float] = []
    used = time.process_time()
    for _ in range(SCREENS):
        last = screen.tiles[-1]
        after = After(last.detection.score, last.image_id)
        began = time.perf_counter()
        with database.write.begin() as session:
            screen = sweeping.take(
                session, RUN, CLASSES[3], "one", "ana", after=after, count=SCREEN
            )
        later.append(1000 * (time.perf_counter() - began))
        assert len(screen.tiles) == SCREEN
    return 1000 * first, later, 1000 * (time.process_time() - used) / SCREENS


def main() -> None:
    """Measure on each database there is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    rows = list(_everywhere(given.images))
    if given.keep:
        results.keep("sweep_speed", rows)


def _everywhere(count: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="loupe-") as folder:
        yield from _on("SQLite", f"sqlite:///{folder}/loupe.db", count)
        if databases.postgres_binaries() is None:
            print("PostgreSQL is not installed.")
            return
    with (
        tempfile.TemporaryDirectory(prefix="loupe-postgres-") as folder,
        databases.postgres_server(Path(folder)) as server,
    ):
        yield from _on("PostgreSQL", databases.new_postgres_database(server), count)


def _on(name: str, url: str, count: int) -> Iterator[Figure]:
    database = engine.open_url(url)
    engine.create_tables(database)
    fill(database, count)
    first, later, used = measure(database)
    low, high = (round(float(np.percentile(later, q)), 1) for q in (50, 95))
    print(f"{name}: the first screen {first:.0f} ms, then p50 {low} ms, p95 {high} ms")
    load = f"load {os.getloadavg()[1]:.0f}"
    how = f"{name}, {count:,} pictures, {SCREEN} a screen, {results.machine()}"
    yield Figure("the first screen with its counts", round(first, 1), "ms", how=how)
    yield Figure("a screen after it: p50", low, "ms", f"p95 {high}, {load}", how=how)
    yield Figure("what it takes of our core", round(used, 1), "ms", how=how)
    database.close()


if __name__ == "__main__":
    main()
