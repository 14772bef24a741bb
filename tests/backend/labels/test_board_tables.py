"""A table of boards says more of pictures: by its line, its lot, told in words where it cannot."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from backend.errors import Invalid
from backend.labels import board_tables, facts, gallery, images
from backend.labels.board_tables import Joined
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage.engine import Database

NAMES = ("A/1.png", "A/2.png", "B/1.png", "lone.png")


@pytest.fixture
def line(database: Database) -> Database:
    """Boards of two lots, and one of none."""
    with database.write.begin() as session:
        project = catalogue.create(session, "line").id
        new = [NewImage(one, one * 8, 9, 9, group=one.rpartition("/")[0]) for one in NAMES]
        images.add(session, project, new, "")
    return database


def join(database: Database, folder: Path, text: str) -> Joined:
    table = folder / "boards.csv"
    table.write_text(text, encoding="utf-8")
    return board_tables.join(database, "line", table)


def having(database: Database, query: str) -> list[str]:
    with database.read.begin() as session:
        project = catalogue.find(session, "line").id
        chosen = gallery.parse(parse_qsl(query))
        return [one.image.name for one in gallery.every(session, project, chosen)]


def columns(database: Database) -> dict[str, list[str]]:
    with database.read.begin() as session:
        return facts.columns(session, catalogue.find(session, "line").id)


def test_a_line_of_a_picture_goes_before_that_of_its_lot(line: Database, tmp_path: Path) -> None:
    text = "lot,image,product,side\nA,2.png,a8,\nA,,a7,top\nB,,b1,bottom\n,lone.png,a7,\n"
    joined = join(line, tmp_path, text)
    assert (joined.pictures, joined.changed, joined.problems) == (4, 4, [])
    assert having(line, "data=product=a7") == ["A/1.png", "lone.png"]
    assert having(line, "data=product=a7&data=product=a8&data=side=top") == ["A/1.png"]
    assert columns(line) == {"product": ["a7", "a8", "b1"], "side": ["bottom", "top"]}
    again = join(line, tmp_path, text)
    assert (again.pictures, again.changed) == (4, 0)


def test_what_is_said_anew_takes_the_place_of_what_was(line: Database, tmp_path: Path) -> None:
    join(line, tmp_path, "image,line,product\nA/1.png,7,a7\nA/2.png,7,a7\n")
    join(line, tmp_path, "image,line\nA/1.png,8\nA/2.png,\n")
    assert having(line, "data=line=8&data=product=a7") == ["A/1.png"]
    assert having(line, "data=line=7") == []
    assert having(line, "data=product=A7") == []
    assert columns(line) == {"line": ["8"], "product": ["a7"]}


def test_a_column_of_many_values_is_found_and_not_offered(line: Database, tmp_path: Path) -> None:
    with line.write.begin() as session:
        project = catalogue.find(session, "line").id
        more = [NewImage(f"C/{n}.png", f"{n:064}", 9, 9, group="C") for n in range(60)]
        images.add(session, project, more, "")
    rows = "".join(f"C/{n}.png,{n},{'even' if n % 2 else 'odd'}\n" for n in range(60))
    joined = join(line, tmp_path, f"image,serial,kind\n{rows}")
    assert (joined.columns, joined.offered) == (("serial", "kind"), ("kind",))
    assert having(line, "data=serial=7") == ["C/7.png"]
    assert columns(line) == {"kind": ["even", "odd"]}


def test_columns_by_which_nearly_every_board_is_another_are_not_offered_together(
    line: Database, tmp_path: Path
) -> None:
    with line.write.begin() as session:
        project = catalogue.find(session, "line").id
        more = [NewImage(f"C/{n}.png", f"{n:064}", 9, 9, group="C") for n in range(1100)]
        images.add(session, project, more, "")
    rows = "".join(f"{n}.png,C,{n % 40},{n // 40},{'漢' * 21}\n" for n in range(1100))
    joined = join(line, tmp_path, f"image,lot,slot,nozzle,long\n{rows}")
    assert (joined.pictures, joined.offered) == (1100, ("slot",))
    assert having(line, "data=slot=7&data=nozzle=3&data=long=" + "漢" * 21) == ["C/127.png"]


def test_what_cannot_be_used_is_told_by_line(line: Database, tmp_path: Path) -> None:
    joined = join(line, tmp_path, "image,line\nA/1.png,7\nA/9.png,7\nA/2.png\nB/1.png,\x07\n")
    assert [one.line for one in joined.problems] == [3, 4, 5]
    assert "'A/9.png'" in joined.problems[0].reason
    assert having(line, "data=line=7") == ["A/1.png"]


@pytest.mark.parametrize(
    "text", ["", "image\n", "line,product\n", "image,line,Line\n", "image,a=b\n", "image,\n"]
)
def test_a_table_without_fit_columns_is_refused(line: Database, tmp_path: Path, text: str) -> None:
    with pytest.raises(Invalid, match=r"boards.csv, line 1"):
        join(line, tmp_path, text)


def test_a_filter_that_says_no_column_is_refused() -> None:
    for said in ("line", "=7", "line="):
        with pytest.raises(Invalid, match="is said as line=7"):
            facts.parse([said])
