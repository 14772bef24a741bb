"""Many processes on one database: no update is lost, nobody is told that it is locked."""

from __future__ import annotations

import multiprocessing

from backend.errors import Conflict
from backend.labels import images, labelling
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.engine import Database

WRITERS, SAVES = 8, 10


def _save(url: str, image_id: int, author: str) -> None:
    opened = engine.open_url(url)
    for _ in range(SAVES):
        saved = False
        while not saved:
            with opened.read() as session:
                version = images.get(session, image_id).version
            try:
                with opened.write.begin() as session:
                    labelling.save(session, image_id, version, [], author)
                saved = True
            except Conflict:
                continue
    opened.close()


def test_eight_writers_lose_nothing(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "line 3")
        images.add(session, project.id, [images.NewImage("a.png", "0" * 64, 64, 64)], "ana")
        image_id = images.find(session, project.id, "a.png").id
    url = database.engine.url.render_as_string(hide_password=False)
    spawn = multiprocessing.get_context("forkserver")
    writers = [spawn.Process(target=_save, args=(url, image_id, f"w{n}")) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    with database.read() as session:
        authors = [one.author for one in labelling.history(session, image_id)]
    assert len(authors) == WRITERS * SAVES
    assert all(authors.count(f"w{n}") == SAVES for n in range(WRITERS))
