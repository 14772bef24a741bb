"""A class is taken out of a project: its labels go as revisions, its past keeps its name."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from backend.domain import Box, Task
from backend.errors import Invalid, Refused
from backend.labels import class_retirement, gallery, images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.storage import findings
from backend.storage.engine import Database
from backend.storage.tables import BoxRow


def class_of(database: Database, name: str) -> int:
    with database.read.begin() as session:
        found = classes.find(session, catalogue.find(session, "boards").id, name)
        assert found is not None
        return found.id


def test_its_boxes_go_as_revisions_and_all_others_stay(old_home: Database) -> None:
    gone = class_of(old_home, "open")
    with old_home.read.begin() as session:
        uses = class_retirement.uses(session, gone)
        ids = gallery.ids(session, catalogue.find(session, "boards").id, gallery.Filter())
        before = labelling.boxes_of(session, ids)
    assert uses.boxes == sum(box.label == "open" for one in before.values() for box in one) > 0
    class_retirement.retire(old_home.write.begin, gone, "ana")
    with old_home.read.begin() as session:
        after = labelling.boxes_of(session, ids)
        for image, boxes in before.items():
            left = tuple(box for box in boxes if box.label != "open")
            assert after[image] == left
            said = [one.action for one in labelling.history(session, image, most=1)]
            assert (said == ["class open removed"]) == (left != boxes)
        assert "open" not in [one.name for one in catalogue.find(session, "boards").classes]


def test_what_runs_found_keeps_its_name_and_nothing_new_gets_it(old_home: Database) -> None:
    gone = class_of(old_home, "open")
    class_retirement.retire(old_home.write.begin, gone, "ana")
    with old_home.write.begin() as session:
        board = catalogue.find(session, "boards")
        run = findings.runs(session, board.id, "detect")[0]
        ids = gallery.ids(session, board.id, gallery.Filter())
        found = findings.images(session, run.id, ids).values()
        assert any(one.label == "open" for image in found for one in image.detections)
        box = Box(1, 1, 9, 9, "open")
        with pytest.raises(Invalid, match="no such class"):
            labelling.save(session, ids[0], labelling.version_of(session, ids[0]), [box], "ana")


def test_the_same_name_added_again_is_the_same_class(old_home: Database) -> None:
    gone = class_of(old_home, "open")
    class_retirement.retire(old_home.write.begin, gone, "ana")
    with old_home.write.begin() as session:
        board = catalogue.find(session, "boards")
        assert classes.add(session, board.id, "open").id == gone
        assert [one.index for one in catalogue.find(session, "boards").classes] == [*range(6)]
        with pytest.raises(Refused, match="already a class"):
            classes.add(session, board.id, "open")


def test_an_import_that_names_it_brings_it_back(old_home: Database) -> None:
    gone = class_of(old_home, "open")
    class_retirement.retire(old_home.write.begin, gone, "ana")
    with old_home.write.begin() as session:
        board = catalogue.find(session, "boards")
        assert classes.ensure_all(session, board.id, ["open", "scratch"])["open"] == gone


def test_an_earlier_name_of_a_class_that_was_taken_out_is_free_for_another(
    old_home: Database,
) -> None:
    gone = class_of(old_home, "short")
    class_retirement.retire(old_home.write.begin, gone, "ana")
    with old_home.write.begin() as session:
        board = catalogue.find(session, "boards")
        assert classes.ensure_all(session, board.id, ["short"])["short"] != gone
        assert classes.ensure_all(session, board.id, ["short circuit"])["short circuit"] == gone


def test_images_put_away_are_not_left_with_boxes_of_no_class(old_home: Database) -> None:
    gone = class_of(old_home, "open")
    with old_home.write.begin() as session:
        images.put_away(session, session.scalars(select(BoxRow.image_id)).all())
    with pytest.raises(Refused, match="that are put away have this class; bring them back"):
        class_retirement.retire(old_home.write.begin, gone, "ana")
    assert class_of(old_home, "open") == gone


def test_the_class_of_a_whole_picture_goes_too(old_home: Database) -> None:
    with old_home.write.begin() as session:
        project = catalogue.create(session, "parts", Task.CLASSIFY, ["good", "bad"])
        new = NewImage("a", "0" * 64, 9, 9, label="good", labelled=True)
        images.add(session, project.id, [new], "ana")
        good = catalogue.find(session, "parts").classes[0].id
    class_retirement.retire(old_home.write.begin, good, "ana")
    with old_home.read.begin() as session:
        assert images.find(session, project.id, "a").label == ""
