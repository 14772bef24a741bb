"""A table of base64 pictures, a row a box: how fast it comes in, and how much memory that takes.

`python -m tests.benchmarks.warehouse.table_import [--rows 100000] [--keep]`

The table is filled by a process of its own, so that what this one holds is the import's.
"""

from __future__ import annotations

import argparse
import base64
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from backend.incoming import places
from backend.incoming.places import Wanted
from backend.labels.imports import Into
from backend.settings import Settings
from backend.storage import engine, schema
from backend.storage.files import Files
from backend.warehouse.dialects.snowflake_connection import SnowflakeConnection
from tests import warehouses
from tests.benchmarks import results
from tests.warehouses import Place

TABLE = "train_images_labels"
COLUMNS = (
    "FILENAME VARCHAR, IMAGE_DATA VARCHAR, CLASS VARCHAR, XMIN FLOAT, YMIN FLOAT, XMAX FLOAT, "
    "YMAX FLOAT"
)
EARLY = 5_000  # rows after which nothing is loaded for the first time any more
PART = 5_000  # rows that are drawn, and told of, together
COPY = "FILE_FORMAT = (TYPE = PARQUET) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE"


def main() -> None:
    """Fill the table and import it, watching the memory of this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        with warehouses.emulator(folder / "emulator") as port:
            place = warehouses.place("snowflake", folder, port=port)
            _apart(fill, place, folder, asked.rows)
            rows = measure(place, folder, asked.rows)
    if asked.keep:
        results.keep("table_import", rows)


def _apart(way: Callable[[Place, Path, int], None], *given: Any) -> None:
    """Do it in a new process, which leaves nothing behind in this one."""
    child = multiprocessing.get_context("spawn").Process(target=way, args=given)
    child.start()
    child.join()
    assert child.exitcode == 0


def fill(place: Place, folder: Path, rows: int) -> None:
    """Pictures that differ, one to a row."""
    dice = np.random.default_rng(1)
    file = folder / "rows.parquet"
    with pq.ParquetWriter(file, _drawn(dice, range(1)).schema) as writer:
        for start in range(0, rows, PART):
            writer.write_table(_drawn(dice, range(start, min(start + PART, rows))))
    with closing(SnowflakeConnection(place.address)) as connection:
        connection.ask(f"CREATE TABLE {TABLE} ({COLUMNS})")
        connection.ask(f"PUT 'file://{folder}/rows.parquet' @%{TABLE} AUTO_COMPRESS = FALSE")
        connection.ask(f"COPY INTO {TABLE} FROM @%{TABLE} {COPY}")


def _drawn(dice: np.random.Generator, rows: range) -> pa.Table:
    images = []
    for _ in rows:
        done, data = cv2.imencode(".png", dice.integers(0, 255, (16, 16, 3), dtype=np.uint8))
        assert done
        images.append(base64.b64encode(data.tobytes()).decode())
    count = len(rows)
    table = {
        "FILENAME": [f"line {one % 50}/{one}.png" for one in rows], "IMAGE_DATA": images,
        "CLASS": ["open"] * count, "XMIN": [1.0] * count, "YMIN": [2.0] * count,
        "XMAX": [8.0] * count, "YMAX": [9.0] * count,
    }  # fmt: skip
    return pa.table(table)


def measure(place: Place, folder: Path, rows: int) -> list[results.Figure]:
    """Rows a second, and how far memory varies once the first rows are in."""
    settings = Settings(home=folder / "home")
    settings.home.mkdir()
    database = engine.connect(settings)
    schema.prepare(database)
    process = psutil.Process()
    seen: list[tuple[int, int]] = []

    def told(done: int, _: int) -> None:
        if seen and done // PART > seen[-1][0] // PART:
            print(f"{done:,} rows, {process.memory_info().rss / 1e6:.0f} MB", flush=True)
        seen.append((done, process.memory_info().rss))

    into = Into(database, Files(str(folder / "files"), settings.cache), "boards", "", progress=told)
    began = time.perf_counter()
    done = places.from_table(into, f"table:{TABLE}", place.address, settings, Wanted())
    seconds = time.perf_counter() - began
    assert (done.images, done.boxes, done.problems) == (rows, rows, ())
    held = [rss for count, rss in seen if count >= EARLY]
    least, most = min(held), max(held)
    print(f"{rows:,} rows in {seconds:.0f} s, {rows / seconds:,.0f} rows/s")
    print(f"memory from row {EARLY:,} on: {least / 1e6:.0f} to {most / 1e6:.0f} MB")
    database.close()
    how = f"{rows:,} rows of base64, {results.machine()}"
    spread = f"load of the machine {os.getloadavg()[0]:.1f}"
    figures = (
        ("rows a second", rows / seconds, "rows/s"),
        (f"resident memory from row {EARLY:,} on, least", least / 1e6, "MB"),
        (f"resident memory from row {EARLY:,} on, most", most / 1e6, "MB"),
        ("between them", (most - least) / 1e6, "MB"),
    )
    return [results.Figure(n, round(v, 1), u, spread, how=how) for n, v, u in figures]


if __name__ == "__main__":
    main()
