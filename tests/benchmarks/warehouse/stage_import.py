"""Pictures on a stage: many folders of equal names, a kill on the way, and DeepPCB as it is.

`python -m tests.benchmarks.warehouse.stage_import [--folders 50] [--each 100] [--deeppcb]`
"""

from __future__ import annotations

import argparse
import hashlib
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from tests import real_data, warehouses
from tests.backend.incoming import snow
from tests.backend.incoming.snow import House

LABELS = (
    "SELECT i.name, i.sha256, i.split, i.group_name, i.is_golden, g.name, i.state, c.name, "
    "b.x1, b.y1, b.x2, b.y2 FROM image i LEFT JOIN image g ON g.id = i.golden_id "
    "LEFT JOIN box b ON b.image_id = i.id LEFT JOIN class c ON c.id = b.class_id "
    "JOIN project p ON p.id = i.project_id WHERE p.name = ? ORDER BY 1, 8, 9, 10, 11, 12"
)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", type=int, default=50)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--deeppcb", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        with warehouses.emulator(folder / "emulator") as port:
            house = snow.house(folder, port, folder / "emulator" / "fetched.log")
            many_folders(house, folder / "drawn", asked.folders, asked.each)
            if asked.deeppcb:
                as_it_is(house, real_data.unpacked("deeppcb"))


def many_folders(house: House, drawn: Path, folders: int, each: int) -> None:
    """All there, whatever their names; killed on the way, and nothing kept is fetched again."""
    made = snow.draw(drawn, folders, each)
    house.place.put(drawn, "@pictures")
    child = house.start("boards", "@pictures", "folders")
    while len(house.handed_out()) < len(made) // 2 and child.poll() is None:
        time.sleep(0.01)
    child.kill()
    child.communicate()
    kept = names(house, "SELECT name FROM file WHERE sha256 != ''")
    house.import_("boards", "@pictures", "folders")
    handed = Counter(house.handed_out())
    with closing(sqlite3.connect(house.home / "loupe.db")) as ours:
        stored = dict(ours.execute("SELECT name, sha256 FROM image"))
    wanted = {name: hashlib.sha256(data).hexdigest() for name, data in made.items()}
    assert stored == wanted
    print(f"{len(made):,} files, killed with {len(kept):,} kept: all there")
    print(f"handed out twice: {sum(one > 1 for one in handed.values()):,}, ", end="")
    print(f"of those kept: {sum(handed[one] > 1 for one in kept)}")
    fresh, cached = timed(house, "@pictures", "other"), timed(house, "@pictures", "third")
    print(f"once more into another project {fresh:.1f} s, and a third {cached:.1f} s, none fetched")
    assert Counter(house.handed_out()) == handed


def timed(house: House, source: str, project: str) -> float:
    """Seconds of an import, with its process."""
    began = time.perf_counter()
    house.import_(project, source, "folders")
    return time.perf_counter() - began


def names(house: House, query: str) -> list[str]:
    """What the ledger of the stage says."""
    [file] = house.home.glob("cache/stages/*/files.db")
    with closing(sqlite3.connect(file)) as ledger:
        return [name for (name,) in ledger.execute(query)]


def as_it_is(house: House, folder: Path) -> None:
    """DeepPCB from a stage is what it is from a folder."""
    house.place.put(folder, "@deeppcb")
    began = time.perf_counter()
    house.import_("staged", "@deeppcb")
    staged = time.perf_counter() - began
    began = time.perf_counter()
    house.import_("local", str(folder))
    local = time.perf_counter() - began
    with closing(sqlite3.connect(house.home / "loupe.db")) as ours:
        found: list[list[Any]] = [
            ours.execute(LABELS, (name,)).fetchall() for name in ("staged", "local")
        ]
    assert found[0] == found[1]
    print(f"DeepPCB: {len(found[0]):,} rows of images and boxes equal; ", end="")
    print(f"{staged:.0f} s from the stage, {local:.0f} s from the folder")


if __name__ == "__main__":
    main()
