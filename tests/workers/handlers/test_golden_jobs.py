"""Golden boards as jobs: images find their golden, the canvas learns how it lies, models grow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from sqlalchemy import select, update

from backend.domain import Project, State
from backend.labels import gallery, images, labelling
from backend.labels.images import NewImage
from backend.models import growth
from backend.projects import catalogue
from backend.review.deciding import saves
from backend.review.deciding.decisions import Sheet
from backend.runs import detection, placements, proposals
from backend.runs.detection import Target
from backend.storage.tables import ImageRow
from tests.workers.families.golden import boards
from tests.workers.handlers import places
from tests.workers.handlers.places import Place
from workers.goldens import match


@pytest.fixture
def place(tmp_path: Path, shared_cache: Path) -> Iterator[Place]:
    made = places.make(tmp_path / "home", shared_cache)
    yield made
    made.database.close()


def bare(place: Place, project: int, *, groups: bool) -> dict[int, int]:
    """Take the goldens away from all images of a project; gives which they were."""
    with place.database.write.begin() as session:
        mine = ImageRow.project_id == project
        query = select(ImageRow.id, ImageRow.golden_id).where(mine, ~ImageRow.is_golden)
        before = {id_: golden for id_, golden in session.execute(query)}
        gone = {"golden_id": None} if groups else {"golden_id": None, "group": ""}
        session.execute(update(ImageRow).where(mine).values(gone))
    return before


def goldens(place: Place, project: int) -> dict[int, int | None]:
    with place.database.read() as session:
        query = select(ImageRow.id, ImageRow.golden_id).where(
            ImageRow.project_id == project, ~ImageRow.is_golden
        )
        return {id_: golden for id_, golden in session.execute(query)}


@pytest.mark.parametrize("groups", [True, False])
def test_images_find_the_golden_that_fits_best(place: Place, groups: bool) -> None:
    project = place.sample(6)
    before = bare(place, project, groups=groups)
    assert len(set(before.values())) > 1
    assert place.detect(project)["failed"] == 0
    assert goldens(place, project) == before


def test_an_image_that_fits_no_golden_stays_without(place: Place) -> None:
    project = place.sample(3)
    with place.database.write.begin() as session:
        data = cv2.imencode(".png", boards.golden(3))[1].tobytes()
        other = NewImage("other.png", place.files.put(data), boards.SIZE, boards.SIZE)
        images.add(session, project, [other], "ann")
    assert place.detect(project)["failed"] == 1
    assert list(goldens(place, project).values()).count(None) == 1


def test_group_goes_before_name_and_name_before_look() -> None:
    first, second = Target(1, "line/a7_golden.png", "a", "", "lot 1"), Target(2, "b.png", "b")
    candidates = match.Candidates([first, second])
    assert candidates.of(Target(3, "b.png", "c", "", "lot 1")) == [first]
    assert candidates.of(Target(3, "line/a7_012.png", "c")) == [first]
    assert candidates.of(Target(3, "c.png", "c")) == [first, second]


def test_below_its_lot_an_image_finds_the_golden_of_its_name() -> None:
    shared, own = Target(1, "a7_golden.png", "a"), Target(2, "B/a7_golden.png", "b")
    candidates = match.Candidates([shared, own, Target(3, "a5.png", "c")])
    assert candidates.of(Target(4, "A/a7_012.png", "d", "", "A")) == [shared]
    assert candidates.of(Target(5, "B/a7_012.png", "e", "", "B")) == [own]


def test_the_name_of_an_image_goes_before_that_of_its_lot() -> None:
    first, second = Target(1, "1.png", "a"), Target(2, "2.png", "b")
    candidates = match.Candidates([first, second])
    assert candidates.of(Target(3, "12 May/2_003.png", "c", "", "12 May")) == [second]
    assert candidates.of(Target(4, "12 May/003.png", "d", "", "12 May")) == [first]


def shifted(place: Place) -> Project:
    """A project with one board that lies 5 pixels right and 3 above of its golden."""
    clean = boards.golden(4)
    pictures = {"golden.png": clean, "board.png": boards.moved(clean, x=5, y=-3)}
    with place.database.write.begin() as session:
        project = catalogue.create(session, "shifted", classes=("open",))
        for name, pixels in pictures.items():
            stored = place.files.put(cv2.imencode(".png", pixels)[1].tobytes())
            is_golden = name == "golden.png"
            golden = "" if is_golden else "golden.png"
            new = NewImage(
                name, stored, boards.SIZE, boards.SIZE, golden=golden, is_golden=is_golden
            )
            images.add(session, project.id, [new], "ann")
    return project


def test_the_page_learns_how_the_golden_lies(place: Place) -> None:
    project = shifted(place)
    place.detect(project.id)
    with place.database.read() as session:
        ids = images.ids(session, project.id, ["board.png"]).values()
        [item] = placements.laid(session, gallery.items(session, list(ids)))
    matrix = np.array(item.lie).reshape(2, 3)
    middle = matrix @ np.array([160, 160, 1])
    np.testing.assert_allclose(middle, (155, 163), atol=0.7)


def test_how_another_golden_lay_is_not_told(place: Place) -> None:
    project = shifted(place)
    place.detect(project.id)
    with place.database.write.begin() as session:
        ids = images.ids(session, project.id, ["board.png", "golden.png"])
        images.set_golden(session, [ids["board.png"]], ids["board.png"])
        [item] = placements.laid(session, gallery.items(session, [ids["board.png"]]))
    assert item.lie == ()


def test_ten_labelled_boards_teach_a_model_that_proposes(place: Place) -> None:
    project = place.sample(16)
    with place.database.write.begin() as session:
        every = list(detection.subjects(session, project, {}))
        labels = labelling.boxes_of(session, [one.image_id for one in every])
        session.execute(update(ImageRow).values(state=State.NEW))
        growth.choose(session, project, True)
    for one in every[:10]:
        with place.database.write.begin() as session:
            version = images.get(session, one.image_id).version
            sheet = Sheet(version, labels[one.image_id], State.DONE)
            saves.save(session, one.image_id, sheet, "ann")
    trained = place.carry_out(place.claim())
    proposed = place.carry_out(place.claim())
    assert trained["family"] == "golden"
    assert (proposed["images"], proposed["failed"]) == (6, 0)
    with place.database.read() as session:
        found = proposals.best(session, project, [one.image_id for one in every])
    assert {one.proposer.split(":")[0] for one in found.values()} == {"v1"}
    assert "label" in next(iter(found.values())).proposer
