"""An import killed twenty times: the database stays whole, and running it again ends right."""

from __future__ import annotations

import multiprocessing
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import text

from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House
from tests.homes import checked

KILLS = 20
BOARDS = 1000
BOXES_EACH = 2


def _lay(folder: Path) -> Path:
    """Boards with templates and boxes, each picture with bytes of its own."""
    lines: list[str] = []
    for number in range(BOARDS):
        stem = f"g{number % 7}/b/{number:05d}"
        pixels = drawn.numbered(number)
        drawn.lay(
            folder,
            {
                f"{stem}_test.png": pixels,
                f"{stem}_temp.png": drawn.numbered(number + 100_000),
                f"{stem.replace('/b/', '/b_not/')}.txt": "1 2 30 40 1\n5,6,20,22,6\n",
            },
        )
        lines.append(f"{stem}.png {stem.replace('/b/', '/b_not/')}.txt")
    drawn.lay(folder, {"trainval.txt": "\n".join(lines)})
    return folder


def _house(folder: Path) -> House:
    database = engine.open_url(f"sqlite:///{folder / 'loupe.db'}")
    return House(database, Files(str(folder / "files"), folder / "cache"), folder / "home")


def _import(folder: Path, told: Connection) -> None:
    _house(folder).bring(folder / "in", progress=lambda done, _: told.send(done))


def _check(house: House) -> int:
    """The images that are in; each has its boxes, its golden, its bytes and its revision."""
    with house.database.engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert not connection.execute(text("PRAGMA foreign_key_check")).all()
        if not connection.execute(text("SELECT count(*) FROM project")).scalar():
            return 0
        half = (
            "SELECT count(*) FROM image WHERE NOT is_golden AND (version <> 1 OR golden_id IS NULL)"
        )
        assert connection.execute(text(half)).scalar() == 0
        revisions = connection.execute(text("SELECT count(*) FROM revision")).scalar()
    images, boxes = house.images(), house.boxes()
    boards = [name for name, one in images.items() if not one.is_golden]
    assert revisions == len(boards)
    assert all(len(boxes[name]) == BOXES_EACH for name in boards)
    assert all(house.files.has(one.sha256) for one in images.values())
    return len(images)


@pytest.mark.slow
def test_an_import_killed_twenty_times_ends_with_the_right_counts(tmp_path: Path) -> None:
    _lay(tmp_path / "in")
    house = _house(tmp_path)
    engine.create_tables(house.database)
    spawn, chance = multiprocessing.get_context("forkserver"), random.Random(3)
    counts: list[int] = []
    spawn.set_forkserver_preload([__name__])
    for kill in range(KILLS):
        ours, theirs = spawn.Pipe(duplex=False)
        child = spawn.Process(target=_import, args=(tmp_path, theirs))
        child.start()
        while kill and ours.recv() < kill * 2 * BOARDS // (KILLS + 1):
            pass
        time.sleep(chance.uniform(0, 0.1))
        child.kill()
        child.join()
        counts.append(_check(house))
    assert counts == sorted(counts)
    assert len(set(counts)) > KILLS // 4  # they died at different places
    left = house.bring(tmp_path / "in")
    assert left.images + left.goldens + left.skipped == 2 * BOARDS
    assert _check(house) == 2 * BOARDS
    assert house.per_class() == {"open": BOARDS, "pin-hole": BOARDS}
    assert house.bring(tmp_path / "in").skipped == 2 * BOARDS
    checked.whole(house.database, house.files)
