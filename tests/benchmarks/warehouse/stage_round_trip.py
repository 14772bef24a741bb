"""DeepPCB put onto a stage as files, and brought back from there as it was.

`python -m tests.benchmarks.warehouse.stage_round_trip [--keep]`
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from backend.incoming import places, putting
from backend.incoming.putting import Outgoing
from backend.labels.imports import Into
from tests import real_data, warehouses
from tests.benchmarks import results
from tests.benchmarks.warehouse import picture_round_trip, stage_detect

STAGE = "@pictures/boards"


def main() -> None:
    """Out and back, each part timed."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        with warehouses.emulator(folder / "emulator") as port:
            where = warehouses.place("snowflake", folder, port=port)
            os.environ.update(where.environment)
            where.change("CREATE STAGE pictures")
            rows = round_trip(folder, where)
    for one in rows:
        print(f"{one.what}: {one.value:g} {one.unit} ({one.spread})")
    if results.wanted(sys.argv):
        results.keep("stage_round_trip", rows)


def round_trip(folder: Path, where: warehouses.Place) -> list[results.Figure]:
    """The same pictures, boxes, splits, goldens and lots come back into an empty house."""
    one, other = (stage_detect.home(folder / name, where) for name in ("here", "there"))
    into = Into(one.database, one.files, "boards", "")
    places.import_(into, str(real_data.unpacked("deeppcb")), one.settings)
    began = time.perf_counter()
    out = Outgoing(one.database, one.files, one.settings.cache, where.address)
    done = putting.put(out, "boards", STAGE).exported
    between = time.perf_counter()
    back = places.import_(Into(other.database, other.files, "boards", ""), STAGE, other.settings)
    ended = time.perf_counter()
    assert not back.problems, back.problems[:3]
    rows = picture_round_trip.told(one.settings, "boards")
    assert rows == picture_round_trip.told(other.settings, "boards")
    spread = f"{done.images + done.goldens:,} pictures, {done.boxes:,} boxes, load of the machine "
    spread += f"{os.getloadavg()[0]:.1f}"
    how = f"all of DeepPCB, {results.machine()}"
    return [
        results.Figure("put onto the stage", round(between - began, 1), "s", spread, how=how),
        results.Figure("imported from it", round(ended - between, 1), "s", spread, how=how),
        results.Figure("rows of images and boxes that are equal", len(rows), "rows", how=how),
    ]


if __name__ == "__main__":
    main()
