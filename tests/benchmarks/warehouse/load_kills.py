"""A loader killed at twenty moments at random: nothing lost, nothing doubled, nothing left over.

`python -m tests.benchmarks.warehouse.load_kills [--kills 20] [--kinds sqlite,postgres,snowflake]`
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from pathlib import Path

from backend.domain import Detection, Run, RunImage
from backend.storage import engine, findings, schema, types
from backend.storage.engine import Database
from backend.warehouse import ledger, loading
from tests import warehouses
from tests.benchmarks.warehouse.load_speed import place
from tests.warehouses import Publishing

IMAGES, EACH = 200, 50


def main() -> None:
    """Besiege each kind of warehouse in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--kinds", default="sqlite,postgres,snowflake")
    asked = parser.parse_args()
    for kind in asked.kinds.split(","):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
            home = Path(made)
            database = engine.open_url(f"sqlite:///{home / 'loupe.db'}")
            schema.prepare(database)
            with place(kind, home) as where:
                besieged(kind, warehouses.publishing(database, home, where), asked.kills)
            database.close()


def besieged(kind: str, house: Publishing, kills: int) -> None:
    """Each time something new to publish, and a loader that is killed at some moment of it."""
    dice = random.Random(7)
    whole = lasts(house)
    hits = 0
    for run in range(2, kills + 2):
        find(house.database, run)
        child = house.start()
        try:
            child.wait(dice.uniform(0.3, 1.0) * whole)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        with house.database.read() as session:
            hits += ledger.running(session) is not None
    house.load()
    runs = kills + 1
    found = "SELECT count(*), count(DISTINCT run_id * 1000000 + image_id * 1000 + idx)"
    assert house.place.ask(f"{found} FROM loupe_detection_now") == [(runs * IMAGES * EACH,) * 2]
    assert house.place.ask("SELECT count(*) FROM loupe_run_image_now") == [(runs * IMAGES,)]
    if house.place.port:
        tables = house.place.ask("SELECT table_name FROM information_schema.tables")
        assert not [name for (name,) in tables if "staging" in name.lower()]
    assert not loading.scratch(house.settings).exists()
    print(f"{kind}: {kills} kills, {hits} of them within a load; each row is there once")


def lasts(house: Publishing) -> float:
    """How long a loader takes, its start included."""
    find(house.database, 1)
    began = time.monotonic()
    assert house.start().wait() == 0
    return time.monotonic() - began


def find(database: Database, run: int) -> None:
    boxes = tuple(Detection(i, 1, i + 5, 9, "x", 0.5, i) for i in range(EACH))
    seen = [RunImage(one, str(one), detections=boxes) for one in range(1, IMAGES + 1)]
    with database.write.begin() as session:
        findings.start(session, Run(run, "v2", "yolo", types.now()))
        findings.record(session, run, seen)
        findings.finish(session, run, 1.0, {})


if __name__ == "__main__":
    main()
