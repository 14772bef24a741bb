"""Saving boxes: versions, conflicts, history, and what may not be saved."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from backend.domain import Box, DetectionRef, Image, Origin, State
from backend.errors import Conflict, Invalid, NotFound
from backend.labels import images, labelling
from backend.projects import catalogue, classes
from backend.storage.engine import Database

BOX = Box(10, 20, 30.5, 40.25, "spur")


def board(session: Session) -> Image:
    project = catalogue.create(session, "line 3", classes=["open", "spur"])
    images.add(session, project.id, [images.NewImage("a.png", "0" * 64, 640, 480)], "ana")
    return images.find(session, project.id, "a.png")


def test_a_box_is_kept_to_the_last_digit(database: Database) -> None:
    with database.write.begin() as session:
        image = board(session)
        labelling.save(session, image.id, 0, [BOX], "ana")
    with database.read() as session:
        (kept,) = labelling.boxes_of(session, [image.id])[image.id]
    assert replace(kept, id="", author="") == BOX
    assert (kept.author, len(kept.id)) == ("ana", 32)


def test_a_second_writer_is_told_who_changed_what(database: Database) -> None:
    with database.write.begin() as session:
        image = board(session)
        labelling.save(session, image.id, 0, [BOX], "ana", action="draw spur")
    with database.write.begin() as session, pytest.raises(Conflict) as caught:
        labelling.save(session, image.id, 0, [], "ben")
    assert "ana has changed a.png" in str(caught.value)
    assert caught.value.theirs.boxes[0].label == "spur"


def test_a_refused_save_changes_nothing(database: Database) -> None:
    with database.write.begin() as session:
        image = board(session)
        labelling.save(session, image.id, 0, [BOX], "ana")
    with pytest.raises(Conflict), database.write.begin() as session:
        labelling.save(session, image.id, 0, [], "ben")
    with database.read() as session:
        assert len(labelling.boxes_of(session, [image.id])[image.id]) == 1
        assert len(labelling.history(session, image.id)) == 1


def test_any_revision_can_be_restored(database: Database) -> None:
    with database.write.begin() as session:
        image = board(session)
        first = labelling.save(session, image.id, 0, [BOX], "ana", state=State.DONE)
        labelling.save(session, image.id, 1, [], "ben")
        again = labelling.restore(session, image.id, 1, "ana")
    assert (again.version, again.boxes, again.state) == (3, first.boxes, State.DONE)
    with database.read() as session:
        versions = [one.version for one in labelling.history(session, image.id)]
    assert versions == [3, 2, 1]


def test_an_accepted_box_remembers_its_detection(database: Database) -> None:
    found = replace(BOX, origin=Origin.GOLDEN, detection=DetectionRef(7, 1, 3))
    with database.write.begin() as session:
        image = board(session)
        saved = labelling.save(session, image.id, 0, [found], "ana")
        kept = labelling.boxes_of(session, [image.id])[image.id]
    assert saved.boxes[0].detection == kept[0].detection == DetectionRef(7, 1, 3)


@pytest.mark.parametrize(
    ("box", "word"),
    [
        (replace(BOX, x1=float("nan")), "not a number"),
        (replace(BOX, x2=float("inf")), "not a number"),
        (replace(BOX, x2=10), "no area"),
        (replace(BOX, x1=700, x2=800), "no area inside the picture"),
        (replace(BOX, label="ghost"), "no such class"),
    ],
)
def test_a_box_that_cannot_be_is_refused(sqlite: Database, box: Box, word: str) -> None:
    with pytest.raises(Invalid, match=word), sqlite.write.begin() as session:
        labelling.save(session, board(session).id, 0, [box], "ana")


def test_a_million_boxes_are_refused(sqlite: Database) -> None:
    with pytest.raises(Invalid, match="at most 10,000"), sqlite.write.begin() as session:
        labelling.save(session, board(session).id, 0, [BOX] * 1_000_000, "ana")


def test_a_deleted_image_takes_no_boxes(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        image = board(session)
        images.put_away(session, [image.id])
    with pytest.raises(NotFound, match="deleted"), sqlite.write.begin() as session:
        labelling.save(session, image.id, 0, [BOX], "ana")


def test_a_renamed_class_keeps_its_labels_and_its_old_name(database: Database) -> None:
    with database.write.begin() as session:
        image = board(session)
        labelling.save(session, image.id, 0, [BOX], "ana")
        spur = classes.find(session, image.project_id, "spur")
        assert spur
        classes.edit(session, spur.id, name="whisker")
        labelling.save(session, image.id, 1, [BOX], "ana")
        assert [one.boxes[0].label for one in labelling.history(session, image.id)] == [
            "whisker",
            "whisker",
        ]


def test_a_merged_class_is_read_as_what_it_became(database: Database) -> None:
    with database.write.begin() as session:
        image = board(session)
        labelling.save(session, image.id, 0, [BOX], "ana")
        opened, spur = classes.of(session, image.project_id)
        classes.merge(session, spur.id, opened.id)
        assert labelling.boxes_of(session, [image.id])[image.id][0].label == "open"
        assert labelling.revision(session, image.id, 1).boxes[0].label == "open"
        assert [kind.name for kind in classes.of(session, image.project_id)] == ["open"]
