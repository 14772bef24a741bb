"""Pictures that come as a lot stand below its name, whatever their source calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import Invalid
from backend.labels import images
from backend.storage import engine
from backend.storage.files import Files
from tests.backend.labels import drawn
from tests.backend.labels.projects_full import House


@pytest.fixture
def house(database: engine.Database, files: Files, tmp_path: Path) -> House:
    return House(database, files, tmp_path / "home")


def test_boards_of_one_name_stand_in_the_lots_they_came_with(house: House, tmp_path: Path) -> None:
    first = drawn.lay(tmp_path / "a", {"1.png": drawn.numbered(1), "2.png": drawn.numbered(2)})
    second = drawn.lay(tmp_path / "b", {"1.png": drawn.numbered(3), "2.png": drawn.numbered(2)})
    assert house.bring(first, lot="A").images == 2
    assert house.bring(second, lot="line 2/B").images == 2
    again = house.bring(first, lot="A")
    assert (again.images, again.skipped, again.problems) == (0, 2, ())
    assert {name: one.group for name, one in house.images().items()} == {
        "A/1.png": "A",
        "A/2.png": "A",
        "line 2/B/1.png": "line 2/B",
        "line 2/B/2.png": "line 2/B",
    }


def test_what_came_before_lots_were_folders_is_not_brought_in_again(
    house: House, tmp_path: Path
) -> None:
    house.bring(drawn.lay(tmp_path / "a", {"1.png": drawn.numbered(1), "2.png": drawn.numbered(2)}))
    ids = [one.id for one in house.images().values()]
    with house.database.write.begin() as session:
        images.set_group(session, ids, "A")
    other = drawn.lay(tmp_path / "b", {"1.png": drawn.numbered(1), "2.png": drawn.numbered(3)})
    again = house.bring(other, lot="A")
    assert (again.images, again.skipped, again.problems) == (1, 1, ())
    assert house.images().keys() == {"1.png", "2.png", "A/2.png"}
    assert house.bring(other, lot="B").images == 2


def test_the_lot_that_is_named_goes_before_those_of_the_source(
    house: House, tmp_path: Path
) -> None:
    told: dict[str, bytes | str] = {
        name: drawn.picture(shade=shade)
        for shade, name in enumerate(("a.jpg", "b.jpg", "goldens/g.jpg"))
    }
    told["goldens.csv"] = "picture,golden,group\na.jpg,g.jpg,lot 1\n"
    house.bring(drawn.lay(tmp_path / "in", told), lot="lot 7")
    found = house.images()
    assert {name: one.group for name, one in found.items()} == {
        "lot 7/a.jpg": "lot 7",
        "lot 7/b.jpg": "lot 7",
        "g.jpg": "",
    }
    assert found["lot 7/a.jpg"].golden_id == found["g.jpg"].id


def test_each_lot_is_held_against_the_golden_that_came_with_it(
    house: House, tmp_path: Path
) -> None:
    def lot(name: str, golden: int) -> None:
        told: dict[str, bytes | str] = {
            "1.png": drawn.numbered(golden + 10),
            "goldens/g.png": drawn.numbered(golden),
        }
        assert house.bring(drawn.lay(tmp_path / name, told), lot=name).problems == ()

    lot("A", 1)
    lot("B", 2)
    lot("C", 1)
    found = house.images()
    goldens = {name: one.id for name, one in found.items() if one.is_golden}
    held = {name: one.golden_id for name, one in found.items() if not one.is_golden}
    assert goldens.keys() == {"g.png", "B/g.png"}
    shared, own = goldens["g.png"], goldens["B/g.png"]
    assert held == {"A/1.png": shared, "B/1.png": own, "C/1.png": shared}


def test_a_lot_that_filters_could_not_tell_is_none_and_that_is_said(
    house: House, tmp_path: Path
) -> None:
    told: dict[str, bytes | str] = {
        "a.png": drawn.numbered(1),
        "b.png": drawn.numbered(2),
        "goldens/g.png": drawn.numbered(3),
        "goldens.csv": "picture,golden,group\na.png,g.png,none\nb.png,g.png,none\n",
    }
    [problem] = house.bring(drawn.lay(tmp_path / "in", told)).problems
    assert (problem.file, "named 'none'" in problem.reason) == ("a.png", True)
    assert {one.group for one in house.images().values()} == {""}


@pytest.mark.parametrize("lot", ["lot\n7", "..", "a/../b", "/a", "a//b", "a\\b", "none", " a"])
def test_what_cannot_be_the_folder_of_a_lot_is_refused(
    house: House, tmp_path: Path, lot: str
) -> None:
    with pytest.raises(Invalid, match="lot"):
        house.bring(drawn.lay(tmp_path / "in", {"a.png": drawn.numbered(1)}), lot=lot)
