"""Detections into an empty database, rows a second: SQLite, PostgreSQL, `[ROWS]`.

On PostgreSQL the same rows go in by turns: by executemany, and by COPY, which runs use.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Table, insert
from sqlalchemy.orm import Session

from backend.domain import Detection, Run, RunImage
from backend.storage import engine, findings, types
from backend.storage.engine import Database
from backend.storage.tables import DetectionRow
from tests import databases

ROUNDS = 5
A_PICTURE = 10
CHUNK = 256 * A_PICTURE  # what a run writes at once
TABLE = cast(Table, DetectionRow.__table__)
Rows = list[dict[str, Any]]


def executemany(session: Session, rows: Rows) -> None:
    """A statement that the driver repeats for each row."""
    session.connection().execute(insert(TABLE), rows)


def bulk(session: Session, rows: Rows) -> None:
    """The way that results take."""
    engine.bulk_insert(session, DetectionRow, rows)


def record(session: Session, rows: Rows) -> None:
    """The whole way of a run: the images, which of them are new, and their detections."""
    run_id = rows[0]["run_id"]
    findings.start(session, Run(run_id, "v1", "yolo", types.now()))
    by_image: dict[int, list[Detection]] = {}
    for row in rows:
        one = Detection(*(row[name] for name in ("x1", "y1", "x2", "y2", "label", "score")))
        by_image.setdefault(row["image_id"], []).append(one)
    seen = [RunImage(id_, str(id_), detections=tuple(d)) for id_, d in by_image.items()]
    findings.record(session, run_id, seen)


WAYS: dict[str, Callable[[Session, Rows], None]] = {
    "executemany": executemany,
    "bulk_insert": bulk,
    "record": record,
}


def measure(database: Database, count: int) -> None:
    """Each way by turns, a run of its own each time, a transaction a chunk; medians."""
    rates: dict[str, list[float]] = {name: [] for name in WAYS}
    for round_ in range(ROUNDS):
        for at, (name, way) in enumerate(WAYS.items()):
            chunks = list(engine.batches(_rows(10 * round_ + at + 1, count), CHUNK))
            began = time.perf_counter()
            for chunk in chunks:
                with database.write.begin() as session:
                    way(session, list(chunk))
            rates[name].append(count / (time.perf_counter() - began))
    medians = {name: statistics.median(all_) for name, all_ in rates.items()}
    ratio = statistics.median(
        b / a for a, b in zip(rates["executemany"], rates["bulk_insert"], strict=True)
    )
    print(", ".join(f"{name} {rate:,.0f} rows/s" for name, rate in medians.items()), end="; ")
    print(f"bulk_insert {ratio:.1f} × executemany")


def _rows(run_id: int, count: int) -> Rows:
    return [
        {
            "run_id": run_id,
            "image_id": at // A_PICTURE,
            "idx": at % A_PICTURE,
            "label": ("open", "short", "spur")[at % 3],
            "score": 0.9 - at % 997 / 2000,
            "x1": at % 613 + 0.25,
            "y1": at % 601 + 0.125,
            "x2": at % 613 + 27.3333,
            "y2": at % 601 + 31.7777,
        }
        for at in range(count)
    ]


@contextmanager
def _postgres() -> Iterator[str]:
    with (
        tempfile.TemporaryDirectory(prefix="loupe-postgres-") as folder,
        databases.postgres_server(Path(folder)) as server,
    ):
        yield databases.new_postgres_database(server)


def main() -> None:
    """Measure on both databases."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="loupe-") as folder, _postgres() as server:
        for name, url in (("SQLite", f"sqlite:///{folder}/loupe.db"), ("PostgreSQL", server)):
            database = engine.open_url(url)
            engine.create_tables(database)
            print(f"{name}, {count:,} rows in chunks of {CHUNK:,}: ", end="", flush=True)
            measure(database, count)
            database.close()


if __name__ == "__main__":
    main()
