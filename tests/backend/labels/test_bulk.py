"""Many images changed at once: in parts between which others save, undone as a whole."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.domain import Box, Revision, State, Task
from backend.errors import Invalid, NotFound
from backend.labels import bulk, images, labelling
from backend.labels.bulk import Change
from backend.labels.images import NewImage
from backend.projects import catalogue, class_merge, classes
from backend.storage import engine
from backend.storage.engine import Database
from backend.storage.writers import parts
from tests.statements import heard

SPUR = Box(1.0, 2.0, 3.0, 4.0, "spur")


def _filled(database: Database, count: int) -> tuple[int, list[int]]:
    """A project of which every second image is labelled."""
    with database.write.begin() as session:
        project = catalogue.create(session, "line").id
        new = [
            NewImage(f"{n:05}", f"{n:064}", 9, 9, (SPUR,) if n % 2 else (), labelled=bool(n % 2))
            for n in range(count)
        ]
        images.add(session, project, new, "ann")
        return project, sorted(images.ids(session, project, [one.name for one in new]).values())


def _newest(database: Database, image_id: int) -> Revision:
    with database.read.begin() as session:
        return labelling.history(session, image_id)[0]


def test_a_state_set_for_many_is_a_revision_of_each_with_its_boxes(database: Database) -> None:
    project, ids = _filled(database, 6)
    bulk.change(database.write.begin, project, Change("state", "skipped"), ids, "ben")
    bare, labelled = _newest(database, ids[0]), _newest(database, ids[1])
    assert (bare.version, bare.boxes, bare.state, bare.author) == (1, (), State.SKIPPED, "ben")
    assert (labelled.version, len(labelled.boxes)) == (2, 1)
    assert labelled.action == "marked skipped"
    with database.read.begin() as session:
        assert images.get(session, ids[1]).version == 2
        assert labelling.boxes_of(session, ids)[ids[1]] == labelled.boxes


def test_done_again_it_changes_nothing_and_undone_it_is_as_before(database: Database) -> None:
    project, ids = _filled(database, 6)
    did = bulk.change(database.write.begin, project, Change("state", "skipped"), ids, "ben")
    bulk.change(database.write.begin, project, Change("state", "skipped"), ids, "ben")
    assert _newest(database, ids[1]).version == 2
    for step in did.undo:
        wanted = Change(step.action, step.value)
        bulk.change(database.write.begin, project, wanted, step.images, "ben")
    with database.read.begin() as session:
        states = [images.get(session, id_).state for id_ in ids]
    assert states == [State.NEW, State.DONE] * 3


def _classified(database: Database) -> tuple[int, list[int]]:
    with database.write.begin() as session:
        project = catalogue.create(session, "sorts", Task.CLASSIFY, ["good", "bad"]).id
        new = [NewImage("a", "a" * 64, 9, 9, label="bad", labelled=True), NewImage("b", "b", 9, 9)]
        images.add(session, project, new, "ann")
        return project, sorted(images.ids(session, project, ["a", "b"]).values())


def _named(database: Database, ids: Sequence[int]) -> list[tuple[str, State, int]]:
    with database.read.begin() as session:
        found = [images.get(session, one) for one in ids]
    return [(one.label, one.state, one.version) for one in found]


def test_a_class_for_many_is_a_revision_of_each_and_undone_all_is_as_before(
    database: Database,
) -> None:
    project, ids = _classified(database)
    before = [("bad", State.DONE), ("", State.NEW)]
    for name in ("good", ""):
        did = bulk.change(database.write.begin, project, Change("class", name), ids, "ben")
        assert [one[:2] for one in _named(database, ids)] == [(name, State.DONE)] * 2
        for step in did.undo:
            back = Change(step.action, step.value)
            bulk.change(database.write.begin, project, back, step.images, "ben")
        assert [one[:2] for one in _named(database, ids)] == before
    assert [one[2] for one in _named(database, ids)] == [5, 4]
    assert _newest(database, ids[0]).label == "bad"


def test_a_class_is_given_only_where_pictures_have_one_and_it_is_known(database: Database) -> None:
    project, ids = _classified(database)
    boxed, others = _filled(database, 2)
    for of, some, wanted, words in (
        (project, ids, Change("class", "worse"), "no class 'worse'"),
        (boxed, others, Change("class", "bad"), "no class as a whole"),
        (boxed, others, Change("class-back", "done 1"), "no class as a whole"),
        (project, ids, Change("class-back", "done"), "no state with the number"),
        (project, ids, Change("class-back", "lost 1"), "no state 'lost'"),
    ):
        with pytest.raises(Invalid, match=words):
            bulk.change(database.write.begin, of, wanted, some, "ben")
    assert _named(database, ids) == [("bad", State.DONE, 1), ("", State.NEW, 0)]


@pytest.mark.parametrize(
    "wanted", [Change("state", "skipped"), Change("split", "val"), Change("group", "a")]
)
def test_ten_times_the_images_ask_no_more_statements_a_part(
    database: Database, wanted: Change
) -> None:
    project, ids = _filled(database, 220)
    with heard(database) as few:
        bulk.change(database.write.begin, project, wanted, ids[:20], "ben")
    with heard(database) as many:
        bulk.change(database.write.begin, project, wanted, ids[20:], "ben")
    assert len(many) <= len(few)


def test_a_change_that_ends_in_the_middle_says_how_far_it_came(tmp_path: Path) -> None:
    database = engine.open_url(f"sqlite:///{tmp_path / 'loupe.db'}")
    engine.create_tables(database)
    project, ids = _filled(database, parts.FIRST + 10)
    broken = f"WHEN NEW.id = {ids[-1]} BEGIN SELECT RAISE(ABORT, 'broken'); END"
    with database.write.begin() as session:
        session.execute(text(f"CREATE TRIGGER broken BEFORE UPDATE ON image {broken}"))
    did = bulk.change(database.write.begin, project, Change("group", "x"), ids, "ben")
    assert (did.changed, did.error) == (parts.FIRST, bulk.STOPPED)
    assert did.undo == [bulk.UndoStep("group", "", ids[: parts.FIRST])]
    with database.read.begin() as session, pytest.raises(NotFound):
        bulk.refuse_strange(session, project, [*ids, 10**9])
    database.close()


def test_what_is_slow_is_done_in_smaller_parts_between_which_others_write(
    database: Database,
) -> None:
    def slow(_: Session, part: Sequence[int]) -> int:
        time.sleep(0.0005 * len(part))
        return len(part)

    sizes = []
    for _, size in parts.each(database.write.begin, range(1000), slow):
        sizes.append(size)
        with database.write.begin() as session:
            catalogue.create(session, f"made between, {len(sizes)}")
    assert sum(sizes) == 1000
    assert max(sizes[1:]) < parts.FIRST


def test_a_thousand_classes_are_made_by_as_many_statements_as_ten(database: Database) -> None:
    with database.write.begin() as session:
        project = catalogue.create(session, "line").id
        with heard(database) as few:
            classes.ensure_all(session, project, [f"a{n}" for n in range(10)])
        with heard(database) as many:
            made = classes.ensure_all(session, project, [f"b{n}" for n in range(1000)])
        assert len(many) <= len(few) < 15
        assert [one.name for one in classes.of(session, project)][10:] == list(made)
        assert classes.ensure_all(session, project, ["b7", " b7 "]) == {
            "b7": made["b7"],
            " b7 ": made["b7"],
        }


def test_two_classes_with_many_boxes_are_merged_in_parts_between_which_others_save(
    database: Database,
) -> None:
    project, ids = _filled(database, 2 * parts.FIRST + 20)
    opened = list[int]()

    @contextmanager
    def begin() -> Iterator[Session]:
        with database.write.begin() as session:
            yield session
        with database.write.begin() as session:
            catalogue.create(session, f"made between, {len(opened)}")
        opened.append(1)

    with database.write.begin() as session:
        target = classes.add(session, project, "scratch").id
        source = classes.ensure(session, project, "spur").id
    class_merge.merge(database.read.begin, begin, project, source, target)
    with database.read.begin() as session:
        found = labelling.boxes_of(session, ids).values()
        assert {box.label for boxes in found for box in boxes} == {"scratch"}
        assert [one.name for one in classes.of(session, project)] == ["scratch"]
        assert all(not one.boxes for one in class_merge.left(session, project))
    assert len(opened) == 3  # what they are, then two parts


def test_what_a_killed_merge_has_left_is_read_as_merged_and_taken_along_by_the_next(
    database: Database,
) -> None:
    project, ids = _filled(database, 6)
    with database.write.begin() as session:
        target, other = (classes.add(session, project, name).id for name in ("scratch", "x"))
        source = classes.ensure(session, project, "spur").id
        classes.join(session, source, target)
    with database.read.begin() as session:
        assert labelling.boxes_of(session, ids)[ids[1]][0].label == "scratch"
        assert [len(one.boxes) for one in class_merge.left(session, project)] == [3]
    class_merge.merge(database.read.begin, database.write.begin, project, other, target)
    with database.read.begin() as session:
        assert not any(one.boxes for one in class_merge.left(session, project))
