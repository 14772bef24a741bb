"""DeepPCB published with its pictures, and brought back from the warehouse's views as it was.

`python -m tests.benchmarks.warehouse.picture_round_trip [--views pcb_labeled_data]`
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from backend.incoming import places
from backend.incoming.places import Wanted
from backend.incoming.tables import TableOptions
from backend.labels.imports import Into
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine, schema
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.warehouse import pictures
from tests import real_data, warehouses
from tests.benchmarks.warehouse.stage_import import LABELS
from tests.warehouses import Place, Publishing


def main() -> None:
    """Out and back, each part timed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", default="pcb_labeled_data")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        with warehouses.emulator(folder / "emulator") as port:
            place = warehouses.place("snowflake", folder, port=port)
            round_trip(folder, place, asked.views.split(","))


def round_trip(folder: Path, place: Place, views: list[str]) -> None:
    """The same pictures, boxes, splits, goldens and lots come back."""
    settings = Settings(home=folder / "home", warehouse_url=SecretStr(place.url))
    settings.home.mkdir()
    database = engine.connect(settings)
    schema.prepare(database)
    files = Files(settings.files_root, settings.cache)
    out = published(database, files, settings, place)
    for view in views:
        began = time.perf_counter()
        wanted = Wanted(table=TableOptions({}, {"project": "boards"}))
        into = Into(database, files, view, "")
        done = places.from_table(into, f"table:{view}", place.address, settings, wanted)
        seconds = time.perf_counter() - began
        assert not done.problems, done.problems[:3]
        rows = told(settings, view)
        assert rows == told(settings, "boards")
        print(f"{view}: {len(rows):,} rows of images and boxes equal; {out:.0f} s out, ", end="")
        print(f"{done.images + done.goldens:,} pictures back in {seconds:.0f} s")
    database.close()


def published(database: Database, files: Files, settings: Settings, place: Place) -> float:
    """Seconds of publishing all of DeepPCB, by a loader of its own."""
    house: Publishing = warehouses.publishing(database, settings.home, place)
    into = Into(database, files, "boards", "")
    places.import_(into, str(real_data.unpacked("deeppcb")), settings)
    with database.read() as session:
        project = catalogue.find(session, "boards").id
    began = time.perf_counter()
    found = pictures.enlist(database, files, project, pictures.LARGEST["snowflake"])
    assert not found.left_out
    house.load()
    return time.perf_counter() - began


def told(settings: Settings, project: str) -> list[Any]:
    """All that a project says of its pictures."""
    with closing(sqlite3.connect(settings.home / "loupe.db")) as ours:
        return ours.execute(LABELS, (project,)).fetchall()


if __name__ == "__main__":
    main()
