"""A process killed between saves: what was said to be saved is there, and nothing half."""

from __future__ import annotations

import multiprocessing
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

from sqlalchemy import text

from backend.domain import Box
from backend.labels import images, labelling
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.files import Files
from tests.homes import checked

KILLS = 20


def _save_for_ever(url: str, image_id: int, told: Connection) -> None:
    opened = engine.open_url(url)
    with opened.read() as session:
        version = images.get(session, image_id).version
    while True:
        boxes = [Box(i, 0, i + 1, 5, "open") for i in range(version % 7)]
        with opened.write.begin() as session:
            version = labelling.save(session, image_id, version, boxes, "ana").version
        told.send(version)


def _last(told: Connection) -> int:
    version = 0
    while told.poll():
        version = told.recv()
    return version


def _check(opened: engine.Database, image_id: int) -> int:
    with opened.read() as session:
        image = images.get(session, image_id)
        versions = [one.version for one in labelling.history(session, image_id)]
        newest = labelling.revision(session, image_id, image.version)
        standing = labelling.boxes_of(session, [image_id])[image_id]
    assert versions == list(range(image.version, 0, -1))
    assert {box.id for box in newest.boxes} == {box.id for box in standing}
    return image.version


def test_a_save_that_was_answered_survives_twenty_kills(tmp_path: Path, files: Files) -> None:
    url = f"sqlite:///{tmp_path / 'loupe.db'}"
    opened = engine.open_url(url)
    engine.create_tables(opened)
    with opened.write.begin() as session:
        project = catalogue.create(session, "line 3", classes=["open"])
        images.add(session, project.id, [images.NewImage("a.png", files.put(b"a"), 64, 64)], "ana")
        image_id = images.find(session, project.id, "a.png").id
    spawn, chance = multiprocessing.get_context("forkserver"), random.Random(5)
    spawn.set_forkserver_preload([__name__])
    for _ in range(KILLS):
        ours, theirs = spawn.Pipe(duplex=False)
        child = spawn.Process(target=_save_for_ever, args=(url, image_id, theirs))
        child.start()
        first = ours.recv()
        time.sleep(chance.uniform(0, 0.05))
        child.kill()
        child.join()
        assert _check(opened, image_id) >= max(first, _last(ours))
    with opened.engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    checked.whole(opened, files)
    opened.close()
