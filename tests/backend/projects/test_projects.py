"""Projects and classes: made, renamed, merged, counted."""

from __future__ import annotations

import pytest

from backend.domain import Box, Split
from backend.errors import NotFound, Refused
from backend.labels import images
from backend.projects import catalogue, classes
from backend.storage.engine import Database


def test_a_project_is_found_by_its_name(database: Database) -> None:
    with database.write.begin() as session:
        made = catalogue.create(session, " line 3 ", classes=["open", "short"])
    with database.read() as session:
        assert catalogue.find(session, "line 3") == made
        with pytest.raises(NotFound, match="'line 4'"):
            catalogue.find(session, "line 4")


def test_a_second_project_of_one_name_is_refused(database: Database) -> None:
    with database.write.begin() as session:
        catalogue.create(session, "line 3")
        with pytest.raises(Refused, match="already a project named 'line 3'"):
            catalogue.create(session, "line 3")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_a_name_that_cannot_be_shown_is_refused(sqlite: Database, name: str) -> None:
    with sqlite.write.begin() as session, pytest.raises(Refused, match="printable"):
        catalogue.create(session, name)


@pytest.mark.parametrize("name", [".", " .. "])
def test_a_name_that_no_address_can_hold_is_refused(sqlite: Database, name: str) -> None:
    with sqlite.write.begin() as session, pytest.raises(Refused, match="folder in an address"):
        catalogue.create(session, name)


def test_classes_get_hotkeys_and_colours_in_their_order(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        made = catalogue.create(session, "p", classes=[f"c{i}" for i in range(12)])
    assert [kind.hotkey for kind in made.classes] == [*"123456789", "", "", ""]
    assert len({kind.color for kind in made.classes}) == 12


def test_a_hotkey_belongs_to_one_class(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        first, second = catalogue.create(session, "p", classes=["a", "b"]).classes
        classes.edit(session, second.id, hotkey="1", severity=3)
        keys = {kind.name: kind.hotkey for kind in classes.of(session, 1)}
    assert (first.hotkey, keys) == ("1", {"a": "", "b": "1"})


def test_a_class_cannot_take_anothers_name(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        _, second = catalogue.create(session, "p", classes=["a", "b"]).classes
        with pytest.raises(Refused, match="merge the two"):
            classes.edit(session, second.id, name="a")


def test_an_order_must_name_every_class(sqlite: Database) -> None:
    with sqlite.write.begin() as session:
        first, second = catalogue.create(session, "p", classes=["a", "b"]).classes
        with pytest.raises(Refused, match="exactly once"):
            classes.reorder(session, 1, [first.id])
        classes.reorder(session, 1, [second.id, first.id])
        assert [kind.name for kind in classes.of(session, 1)] == ["b", "a"]


def test_a_summary_counts_what_is_there(database: Database) -> None:
    box = Box(1, 1, 5, 5, "open")
    new = [
        images.NewImage("g", "0" * 64, 9, 9, is_golden=True),
        images.NewImage("a", "1" * 64, 9, 9, (box, box), golden="g", labelled=True),
        images.NewImage("b", "2" * 64, 9, 9, (box,), labelled=True),
        images.NewImage("c", "3" * 64, 9, 9),
    ]
    with database.write.begin() as session:
        project = catalogue.create(session, "p", classes=["open", "short"])
        assert images.add(session, project.id, new, "ana") == 4
        assert images.add(session, project.id, new, "ana") == 0
        images.put_away(session, [images.find(session, project.id, "b").id])
        (summary,) = catalogue.summaries(session)
        golden = images.find(session, project.id, "g")
        assert images.find(session, project.id, "a").golden_id == golden.id
    assert (summary.images, summary.goldens, summary.labelled) == (2, 1, 1)
    assert summary.boxes == {"open": 2, "short": 0}


def test_images_are_changed_many_at_once(database: Database) -> None:
    new = [images.NewImage(f"{n}", f"{n:064x}", 9, 9) for n in range(50)]
    with database.write.begin() as session:
        project = catalogue.create(session, "p")
        images.add(session, project.id, new, "ana")
        ids = list(images.ids(session, project.id, [one.name for one in new]).values())
        assert images.set_split(session, ids[:20], Split.TEST) == 20
        assert images.set_group(session, ids, " lot 7 ") == 50
        assert images.put_away(session, ids[:5]) == images.bring_back(session, ids[:5]) == 5
        one = images.get(session, ids[0])
    assert (one.split, one.group) == (Split.TEST, "lot 7")
