"""Broken and hostile files: each is named in a sentence, and harms nothing else."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from backend.errors import Invalid, LoupeError
from backend.formats.source import tree
from backend.labels import imports
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.formats import bad_archives, bad_files
from tests.backend.formats.bad_files import Bad
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House

ALL = (*bad_files.ALL, *bad_archives.ALL)


@pytest.fixture
def house(sqlite: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(sqlite, files, tmp_path / "home")


def _lay(bad: Bad, folder: Path) -> Path:
    folder.mkdir()
    return drawn.lay(folder, bad.files) if isinstance(bad.files, dict) else bad.files(folder)


def _everything(folder: Path) -> set[Path]:
    mine = ("home", "files", "loupe.db", "loupe.db-wal", "loupe.db-shm")
    return {path for path in folder.rglob("*") if path.relative_to(folder).parts[0] not in mine}


@pytest.mark.parametrize("bad", ALL, ids=lambda bad: bad.name)
def test_a_bad_file_is_named_and_the_rest_comes_in(house: House, tmp_path: Path, bad: Bad) -> None:
    source = _lay(bad, tmp_path / "in")
    before = _everything(tmp_path)
    if bad.refused:
        with pytest.raises(LoupeError, match=bad.says):
            house.bring(source)
        _assert_no_project(house)
    else:
        _assert_told(house.bring(source), bad)
    assert _everything(tmp_path) == before
    assert not any((tmp_path / "home" / "cache" / "unpacked").iterdir())


def _assert_told(result: imports.Imported, bad: Bad) -> None:
    told = [str(problem) for problem in result.problems]
    assert any(re.search(bad.says, one) for one in told), told
    assert all(one.endswith((".", "?")) and len(one) < 600 for one in told), told
    assert (result.images, result.boxes) == (bad.images, bad.boxes)


def _assert_no_project(house: House) -> None:
    with house.database.read.begin() as session:
        assert catalogue.summaries(session) == []


def test_there_are_at_least_forty_bad_files() -> None:
    assert len({bad.name for bad in ALL}) >= 40


def test_what_unpacks_to_more_than_is_allowed_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "large.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a.bmp", bytes(2_000_000))
    with pytest.raises(Invalid, match=r"unpacks to more than 0\.001 GB"):
        tree.open_source(packed, tmp_path / "scratch", 1_000_000)
