"""How quick a review of 100,000 images with 1,000,000 detections is, on SQLite and PostgreSQL.

`python -m tests.benchmarks.review.review_speed [--images N --keep]`
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy.orm import Session

from backend.domain import Run, Task
from backend.labels import worklist
from backend.labels.gallery import Filter
from backend.models.choice import Chosen
from backend.projects import catalogue, classes
from backend.review import agenda, blind_repeats, tally, views
from backend.runs import known_images
from backend.runs.detection import CONFIDENCE
from backend.storage import engine, findings
from backend.storage.engine import Database
from backend.storage.tables import DecisionRow, DetectionRow, ImageRow, RunImageRow
from backend.storage.types import now
from tests import databases
from tests.benchmarks import results

RUN = 1
A_PICTURE = 10
LABELS = ("open", "short", "mousebite", "spur", "copper", "pin-hole")
TURNS = 15


def fill(database: Database, count: int) -> int:
    """Images, one run over all of them, and decisions on a tenth."""
    rng = np.random.default_rng(1)
    with database.write.begin() as session:
        project = catalogue.create(session, "large", Task.DETECT)
        for label in LABELS:
            classes.ensure(session, project.id, label)
        engine.bulk_insert(session, ImageRow, [_image(project.id, n) for n in range(1, count + 1)])
        at, parameters = datetime.now(UTC), {"confidence": CONFIDENCE}
        run = Run(RUN, "v1", "yolo", at, project.id, None, "", "openvino bf16", "key")
        findings.start(session, replace(run, parameters=parameters))
        for start in range(1, count + 1, 5000):
            _part(session, rng, range(start, min(count + 1, start + 5000)))
    with database.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        connection.commit()
    return project.id


def _image(project_id: int, number: int) -> dict[str, object]:
    return {
        "id": number,
        "project_id": project_id,
        "name": f"board-{number:06}",
        "sha256": f"{number:064}",
        "width": 640,
        "height": 640,
        "added": now(),
        "group_name": f"lot-{number % 200}",
        "is_golden": False,
        "state": "done" if number % 10 == 0 else "new",
        "version": 0,
        "comment": "",
        "author": "",
        "box_count": 0,
    }


def _part(session: Session, rng: np.random.Generator, numbers: range) -> None:
    scores = -np.sort(-rng.beta(4, 2, (len(numbers), A_PICTURE)), axis=1)
    corners = rng.uniform(0, 600, (len(numbers), A_PICTURE, 2))
    doubts = 1 - np.abs(2 * scores - 1)
    seen, found, said = [], [], []
    for at, number in enumerate(numbers):
        seen.append(
            {
                "run_id": RUN,
                "image_id": number,
                "name": f"board-{number:06}",
                "sha256": f"{number:064}",
                "width": 640,
                "height": 640,
                "status": "ok",
                "error": "",
                "milliseconds": 1.0,
                "worker": "",
                "detection_count": A_PICTURE,
                "doubt": float(doubts[at].max()),
                "best": float(scores[at].max()),
                "largest": float(number % 977),
                "verdict": "",
                "facts": {},
            }
        )
        for idx in range(A_PICTURE):
            x, y = corners[at, idx]
            found.append(
                {
                    "run_id": RUN,
                    "image_id": number,
                    "idx": idx,
                    "label": LABELS[(number + idx) % 6],
                    "score": float(scores[at, idx]),
                    "x1": float(x),
                    "y1": float(y),
                    "x2": float(x + 30),
                    "y2": float(y + 20),
                }
            )
        if number % 10 == 0:
            said.append(
                {
                    "run_id": RUN,
                    "image_id": number,
                    "idx": None,
                    "verdict": "pass",
                    "author": "ana",
                    "at": now(),
                    "seconds": 1.0,
                    "box": {"id": "board"},
                }
            )
    engine.bulk_insert(session, RunImageRow, seen)
    engine.bulk_insert(session, DetectionRow, found)
    engine.bulk_insert(session, DecisionRow, said)


def say(what: str, work: Callable[[], object], target: str) -> tuple[str, float, float]:
    """Print p50 and p95 of some turns."""
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    low, high = np.percentile(times, [50, 95])
    print(f"  {what:44} p50 {low:7.1f} ms   p95 {high:7.1f} ms   (wanted {target} ms)")
    return what, float(low), float(high)


def measure(database: Database, project_id: int) -> Iterator[tuple[str, float, float]]:
    """Open, filter, sort, go on, sweep."""
    last = {"image": 0}

    def take(query: list[tuple[str, str]], go_on: bool = False) -> None:
        with database.write.begin() as session:
            choice = agenda.parse(query)
            after = last["image"] if go_on else 0
            taken = agenda.take(session, RUN, choice, "me", "me", after=after, count=6)
            last["image"] = taken.image_ids[-1]
            views.items(session, RUN, taken.image_ids)
            if not go_on:
                agenda.give_back(session, RUN, "me")

    def wall(offset: int) -> None:
        with database.read.begin() as session:
            views.wall(session, RUN, "spur", offset, 96)

    def around() -> None:
        with database.read.begin() as session:
            worklist.around(
                session, project_id, Filter(sort="doubt"), 54_321 % last["image"] + 1, 4, 12
            )

    def again() -> None:
        with database.read.begin() as session:
            blind_repeats.due(session, RUN, "ana", 0.05)

    def recall() -> None:
        with database.read.begin() as session:
            found = known_images.recall(
                session, project_id, Chosen("v1", "yolo"), {"kind": "all"}, {}
            )
        assert found.known == found.images > 0

    yield say("foresee what a run need not look at", recall, "–")
    yield say("open the review", lambda: take([]), "300")
    yield say("the next six images", lambda: take([], go_on=True), "50")
    yield say(
        "filter by class and score", lambda: take([("class", "spur"), ("score", ".9")]), "300"
    )
    yield say("filter by lot", lambda: take([("group", "lot-7")]), "300")
    yield say("filter by verdict", lambda: take([("stands", "pass")]), "300")
    for sort in agenda.SORTS:
        yield say(f"sort by {sort}", lambda sort=sort: take([("sort", sort)]), "300")  # type: ignore[misc]
    yield say("the defect wall", lambda: wall(0), "300")
    yield say("the defect wall, ten pages on", lambda: wall(960), "300")
    yield say("a window of Annotate", around, "50")
    yield say("the lots to choose from", lambda: ask(database, views.groups), "300")
    yield say("a board to be repeated", again, "50")
    yield say("escapes among 2,000 labelled images", lambda: ask(database, tally.figures), "–")
    yield say("the list of runs", lambda: runs(database, project_id), "–")


def ask(database: Database, question: Callable[[Session, int], object]) -> None:
    """Ask something of the run."""
    with database.read.begin() as session:
        question(session, RUN)


def runs(database: Database, project_id: int) -> None:
    """The list that Review begins with."""
    with database.read.begin() as session:
        views.runs(session, project_id)


def main() -> None:
    """Measure on each database there is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    rows = list(_everywhere(given.images))
    if given.keep:
        results.keep("review_speed", rows)


def _everywhere(count: int) -> Iterator[results.Figure]:
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


def _on(name: str, url: str, count: int) -> Iterator[results.Figure]:
    database = engine.open_url(url)
    engine.create_tables(database)
    start = time.perf_counter()
    project_id = fill(database, count)
    print(f"{name}: {count:,} images, {A_PICTURE * count:,} detections", end=" ")
    print(f"(filled in {time.perf_counter() - start:.0f} s)")
    how = f"{name}, {count:,} images, {A_PICTURE * count:,} detections, {results.machine()}"
    for what, low, high in measure(database, project_id):
        yield results.Figure(f"{what}: p50", round(low, 1), "ms", f"p95 {high:.1f}", how=how)
    database.close()


if __name__ == "__main__":
    main()
