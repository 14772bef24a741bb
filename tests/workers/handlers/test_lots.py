"""Lots that come in one after another are judged, each for itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain import Task
from backend.jobs import kinds, queue
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review.boards import sheet
from backend.sample import boards as drawn_boards
from backend.storage import findings
from tests.journeys.boards import png
from tests.workers.handlers import places
from tests.workers.handlers.places import Place

LOT = 40


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home", shared_cache)
    yield made
    made.database.close()


def test_the_same_forty_files_are_eighty_boards_of_two_lots(place: Place, tmp_path: Path) -> None:
    project = with_goldens(place, tmp_path)
    runs = [judged(place, project, tmp_path / "in", lot) for lot in ("lot A", "lot B")]
    with place.database.read() as session:
        first, second = (sheet.read(session, run) for run in runs)
        seen = [findings.seen(session, run) for run in runs]
    assert len(seen[0] | seen[1]) == 2 * LOT
    assert [*first.lots, *second.lots] == ["lot A", "lot B"]
    assert (first.counted.passed, first.counted.failed) == (
        second.counted.passed,
        second.counted.failed,
    )
    assert first.counted.passed + first.counted.failed == LOT


def with_goldens(place: Place, folder: Path) -> int:
    """A project of goldens alone; the boards of a lot are files of a folder."""
    (folder / "in").mkdir()
    goldens = []
    for one in drawn_boards.draw(LOT, 7):
        data = png(one.pixels)
        if one.is_golden:
            wide, high = one.pixels.shape[1], one.pixels.shape[0]
            sha256 = place.files.put(data)
            goldens.append(NewImage(one.name, sha256, wide, high, is_golden=True))
        else:
            (folder / "in" / f"{one.name}.png").write_bytes(data)
    with place.database.write.begin() as session:
        project = catalogue.create(session, "line 7", Task.DETECT, drawn_boards.CLASSES)
        images.add(session, project.id, goldens, "ann")
    return project.id


def judged(place: Place, project: int, source: Path, lot: str) -> int:
    """Bring the folder in as a lot and look at it; gives the run."""
    with place.database.write.begin() as session:
        queue.enqueue(session, kinds.Import(project, str(source), lot=lot))
    assert place.carry_out(place.claim())["images"] == LOT
    assert place.detect(project, source={"groups": [lot]})["failed"] == 0
    with place.database.read() as session:
        return findings.runs(session, project)[0].id
