"""Files that nothing names are collected; those that somebody needs, or may soon, stay."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from backend.jobs import kinds, queue
from backend.labels import gallery, images, samples
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.upkeep import litter

LONG_AGO = time.time() - 10 * litter.DAY


def aged(files: Files, name: str) -> str:
    os.utime(files.local_path(name), (LONG_AGO, LONG_AGO))
    return name


@pytest.fixture
def pictures(database: Database, files: Files) -> list[str]:
    """The pictures of a project, all of them old."""
    drawn = samples.draw(files, "pcb", 3, seed=1)
    with database.write.begin() as session:
        board = samples.create(session, "boards", "pcb", drawn)
        items = list(gallery.every(session, board.id, gallery.Filter()))
    return [aged(files, item.image.sha256) for item in items]


def test_what_nothing_names_is_removed_and_the_rest_stays(
    database: Database, files: Files, pictures: list[str]
) -> None:
    lost, fresh = aged(files, files.put(b"lost")), files.put(b"fresh")
    assert litter.tidy(database, files, only_look=True) == litter.Tidied(1, 4)
    assert files.has(lost)
    assert litter.tidy(database, files) == litter.Tidied(1, 4)
    assert [files.has(name) for name in (lost, fresh, *pictures)] == [False, *[True] * 4]


def test_pictures_put_away_and_files_of_jobs_are_still_needed(
    database: Database, files: Files, pictures: list[str]
) -> None:
    weights = aged(files, files.put(b"weights"))
    with database.write.begin() as session:
        board = catalogue.find(session, "boards")
        images.put_away(session, gallery.ids(session, board.id, gallery.Filter()))
        queue.enqueue(session, kinds.Detect(board.id, "yolo", weights=weights))
    assert litter.tidy(database, files) == litter.Tidied()
    assert all(files.has(name) for name in (weights, *pictures))


def test_who_puts_the_same_bytes_while_it_is_tidied_keeps_them(files: Files) -> None:
    name = aged(files, files.put(b"again"))
    assert list(files.older(litter.DAY)) == [name]
    files.put(b"again")
    assert not files.remove(name, litter.DAY)
    assert files.read(name) == b"again"


def test_a_file_that_another_one_tidied_first_is_no_trouble(
    database: Database, files: Files, tmp_path: Path
) -> None:
    aged(files, files.put(b"lost"))
    names = list(files.older(litter.DAY))
    assert files.remove(names[0], litter.DAY)
    assert litter.tidy(database, files) == litter.Tidied()
    assert not list((tmp_path / "files").rglob("*.part"))
