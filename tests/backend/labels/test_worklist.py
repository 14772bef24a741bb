"""A person walks through images in every order there is; the database says who comes next."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from backend.domain import Box, State
from backend.labels import gallery, images, labelling, worklist
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.tables import ImageRow

# Some are alike, and of some nothing is known.
DOUBTS = (0.5, None, 0.9, 0.5, None, 0.0, 0.5, None)
BOXES = (1, 0, 2, 2, 0, 1, 0, 3)


@pytest.fixture
def project(database: Database) -> int:
    """Images that differ in doubt and in their boxes, not in the order of their names."""
    with database.write.begin() as session:
        project = catalogue.create(session, "walk", classes=["open"])
        new = [
            NewImage(f"{7 * n % 8}.png", f"{n:064x}", 64, 64, (Box(1, 1, 9, 9, "open"),) * many)
            for n, many in enumerate(BOXES)
        ]
        images.add(session, project.id, new, "ana")
        for image, doubt in zip(new, DOUBTS, strict=True):
            where = ImageRow.name == image.name
            session.execute(update(ImageRow).where(where).values(doubt=doubt))
    return project.id


@pytest.mark.parametrize("sort", gallery.SORTS)
def test_every_image_stands_between_its_neighbours(
    database: Database, project: int, sort: str
) -> None:
    chosen = gallery.Filter(sort=sort)
    with database.read() as session:
        order = gallery.ids(session, project, chosen)
        for at, image in enumerate(order):
            window = worklist.around(session, project, chosen, image, 3, 2)
            assert [one.image.id for one in window.items] == order[max(0, at - 3) : at + 3]
            assert (window.position, window.total) == (at, len(order))
        assert worklist.around(session, project, chosen, 0).image_id == order[0]


def test_the_most_doubtful_comes_first_and_what_nothing_is_known_of_last(
    database: Database, project: int
) -> None:
    with database.read() as session:
        window = worklist.around(session, project, gallery.Filter(sort="doubt"), 0, 0, 7)
        doubts = dict(session.execute(select(ImageRow.id, ImageRow.doubt)).tuples().all())
    found = [doubts[one.image.id] for one in window.items]
    assert found == [0.9, 0.5, 0.5, 0.5, 0.0, None, None, None]


@pytest.mark.parametrize("sort", gallery.SORTS)
def test_the_next_unlabelled_image_is_found_in_that_order(
    database: Database, project: int, sort: str
) -> None:
    chosen = gallery.Filter(sort=sort)
    with database.write.begin() as session:
        order = gallery.ids(session, project, chosen)
        for image in order[2:5]:
            version = labelling.version_of(session, image)
            labelling.save(session, image, version, (), "ana", state=State.DONE)
    with database.read() as session:
        order = gallery.ids(session, project, chosen)
        new = [one for one in order if images.get(session, one).state == State.NEW]
        after = [worklist.next_new(session, project, chosen, one) for one in order]
    wanted = [
        next((n for n in [*order[at + 1 :], *order] if n in new and n != one), 0)
        for at, one in enumerate(order)
    ]
    assert after == wanted
