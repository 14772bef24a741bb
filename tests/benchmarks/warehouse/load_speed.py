"""How fast a million detections get into a warehouse: read, staged, merged, counted.

`python -m tests.benchmarks.warehouse.load_speed [--rows 1000000] [--kinds sqlite,postgres,snowflake]`
"""  # noqa: E501

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from pydantic import SecretStr

from backend.settings import Settings
from backend.storage import engine, schema
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import DetectionRow, RunImageRow, RunRow
from backend.storage.types import now
from backend.warehouse import address, loading, outbox, reading
from backend.warehouse.dialects import base, opening
from backend.warehouse.outbox import Part
from backend.warehouse.tables import KINDS
from tests import databases, warehouses
from tests.warehouses import Place

EACH = 100
KIND = KINDS["detection"]


def main() -> None:
    """Measure each kind of warehouse in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kinds", default="sqlite,postgres,snowflake")
    asked = parser.parse_args()
    gc.set_threshold(200_000, 50, 50)  # as the loader's process does
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        home = Path(made)
        database = filled(home, asked.rows)
        parts = found(database)
        seconds, rows = timed(lambda: read(database, parts))
        print(f"read        {rate(asked.rows, seconds)}")
        for kind in asked.kinds.split(","):
            with place(kind, home) as where:
                measure(kind, where, home, parts, rows)
        database.close()


def filled(home: Path, rows: int) -> Database:
    """A home with one run that found so many."""
    database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
    schema.prepare(database)
    with database.write.begin() as session:
        outbox.install(session)
        run = {"id": 1, "model": "v1", "family": "yolo", "started_at": now()}
        engine.insert_new(session, RunRow, [{**run, "project_id": None}])
    images = rows // EACH
    for start in range(1, images + 1, 1000):
        ids = range(start, min(start + 1000, images + 1))
        with database.write.begin() as session:
            seen = [
                {"run_id": 1, "image_id": i, "name": f"{i}.jpg", "status": "ok",
                 "detection_count": EACH} for i in ids
            ]  # fmt: skip
            engine.insert_new(session, RunImageRow, seen)
            boxes = [
                {"run_id": 1, "image_id": i, "idx": j, "class_id": j % 6, "label": "short",
                 "score": 0.5 + j / 300, "x1": i + 0.25, "y1": j + 0.5, "x2": i + 9.0,
                 "y2": j + 9.0}
                for i in ids for j in range(EACH)
            ]  # fmt: skip
            engine.bulk_insert(session, DetectionRow, boxes)
    return database


def found(database: Database) -> list[Part]:
    with database.read() as session:
        return [one for one in outbox.take(session, 0, 10**12) if one.kind == KIND.name]


def read(database: Database, parts: Sequence[Part]) -> list[Any]:
    store = Files(str(Path(database.engine.url.database or "").parent / "files"), Path())
    return [rows for part in parts for rows in reading.rows(database, part, 1, store)]


def measure(kind: str, where: Place, home: Path, parts: Sequence[Part], rows: list[Any]) -> None:
    """One load by its steps, then what it is compared with."""
    os.environ.update(where.environment)
    settings = Settings(home=home, warehouse_url=SecretStr(where.url))
    found = address.of(settings)
    assert found is not None
    scratch = loading.scratch(settings)
    scratch.mkdir(parents=True, exist_ok=True)
    warehouse = opening.connect(found, scratch)
    warehouse.lay()
    count = sum(map(len, rows))
    ranges = loading.ranges(KIND, parts)
    before = warehouse.statements

    def staged() -> None:
        warehouse.stage(KIND, 1)
        for one in rows:
            warehouse.add(KIND, one)
        warehouse.staged(KIND, 1)

    spent = time.process_time()
    staging, _ = timed(staged)
    merging, _ = timed(lambda: warehouse.merge(KIND, 1, []))
    counting, there = timed(lambda: warehouse.count(KIND, 1, ranges))
    ending, _ = timed(warehouse.commit)
    sweeping, _ = timed(lambda: warehouse.sweep(1, [KIND.name]))
    spent = time.process_time() - spent
    assert there == count
    whole = staging + merging + counting + ending + sweeping
    print(f"{kind:11} {rate(count, whole)} in all, with {warehouse.statements - before} statements")
    print(f"  staged    {rate(count, staging)}; merged {merging:.2f} s, counted {counting:.2f} s")
    warehouse.close()
    if kind != "snowflake":
        compared(kind, where, count, spent if kind == "sqlite" else whole, rows)


def compared(kind: str, where: Place, count: int, seconds: float, rows: list[Any]) -> None:
    """The driver's own executemany into a table of the same columns and the same key."""
    every = [tuple(row) for one in rows for row in one]
    table = base.create(KIND, _types(kind), key=True).replace(KIND.table, "compared")
    names = ", ".join(KIND.names)
    if kind == "sqlite":
        marks = ", ".join("?" * len(KIND.names))
        lite = sqlite3.connect(where.url.removeprefix("sqlite:///"))
        lite.execute("PRAGMA synchronous=NORMAL")
        lite.execute(table)
        insert = f"INSERT INTO compared ({names}) VALUES ({marks})"
        theirs = worked(lambda: lite.executemany(insert, every)) + worked(lite.commit)
        lite.close()
    else:
        every = every[: max(100_000, len(every) // 10)]
        marks = ", ".join(["%s"] * len(KIND.names))
        with psycopg.connect(where.url.replace("+psycopg", "")) as server:
            server.execute(table)
            insert = f"INSERT INTO compared ({names}) VALUES ({marks})"
            cursor = server.cursor()
            theirs = timed(lambda: cursor.executemany(insert, every))[0] + timed(server.commit)[0]
    ratio = (count / seconds) / (len(every) / theirs)
    how = "executemany, of the processor," if kind == "sqlite" else "executemany"
    print(f"  {how} {rate(len(every), theirs)}: the load is {ratio:.2f} times as fast")


def _types(kind: str) -> Any:
    from backend.warehouse.dialects import postgresql, sqlite

    return sqlite.TYPES if kind == "sqlite" else postgresql.TYPES


@contextmanager
def place(kind: str, home: Path) -> Iterator[Place]:
    """An empty warehouse with its server."""
    with ExitStack() as stack:
        server, port = "", 0
        if kind == "postgres":
            folder = Path(tempfile.mkdtemp(prefix="loupe-postgres-"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            started = stack.enter_context(databases.postgres_server(folder))
            server = databases.new_postgres_database(started)
        if kind == "snowflake":
            port = stack.enter_context(warehouses.emulator(home / "emulator"))
        yield warehouses.place(kind, home, server, port)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done


def worked(work: Callable[[], Any]) -> float:
    """Seconds of the processor: what a file takes is all in this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def rate(rows: int, seconds: float) -> str:
    return f"{rows:,} rows in {seconds:.2f} s: {rows / seconds:,.0f} rows/s"


if __name__ == "__main__":
    main()
