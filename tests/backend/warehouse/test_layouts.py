"""What a warehouse that is known is sent again: what it lacks, and no picture twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, func, make_url, select, update

from backend.projects import catalogue
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import ImageRow, OutboxRow
from backend.warehouse import address, layouts, ledger
from backend.warehouse.tables import KINDS
from tests import warehouses
from tests.backend.warehouse import test_pictures
from tests.warehouses import Place, Publishing

OTHER = "0" * 16


@pytest.fixture
def house(sqlite: Database, files: Files, tmp_path: Path, place: Place) -> Publishing:
    """A house that has published its pictures."""
    made = warehouses.publishing(sqlite, tmp_path, place)
    test_pictures.fill(sqlite, files, tmp_path / "drawn")
    test_pictures.enlist(made, files)
    made.load()
    return made


def known(house: Publishing) -> layouts.PublishedLayout:
    with house.database.read() as session:
        return layouts.read(ledger.laid(session))


def sent_again(house: Publishing, noted: str) -> dict[str, int]:
    """The rows of the load that follows where this is noted of the warehouse."""
    with house.database.write.begin() as session:
        ledger.set_laid(session, noted)
    house.load()
    with house.database.read() as session:
        last = ledger.last_loaded(session)
    assert last is not None
    return dict(last.rows)


def test_views_that_are_told_otherwise_are_made_anew_and_no_row_is_sent(house: Publishing) -> None:
    before = known(house)
    file = house.place.url.removeprefix("sqlite:///")
    if file != house.place.url:
        with closing(sqlite3.connect(file)) as lite:
            lite.execute("DROP VIEW pcb_labeled_data")
    assert sent_again(house, str(replace(before, views=OTHER))) == {}
    assert house.place.ask("SELECT count(*) FROM pcb_labeled_data") == [(4,)]
    assert known(house) == before


def test_a_kind_with_a_new_column_is_sent_alone(house: Publishing) -> None:
    before = known(house)
    told = replace(before, kinds={**before.kinds, "image": OTHER})
    assert sent_again(house, str(told)) == {"image": 4}
    assert known(house) == before


def test_a_warehouse_that_was_emptied_meanwhile_gets_all_again(
    sqlite: Database, files: Files, tmp_path: Path
) -> None:
    made = warehouses.publishing(sqlite, tmp_path, warehouses.place("sqlite", tmp_path))
    test_pictures.fill(sqlite, files, tmp_path / "drawn")
    test_pictures.enlist(made, files)
    made.load()
    with closing(sqlite3.connect(made.place.url.removeprefix("sqlite:///"))) as lite:
        for kind in KINDS.values():
            lite.execute(f"DELETE FROM {kind.table}")
        lite.commit()
    found = sent_again(made, str(replace(known(made), views=OTHER)))
    assert {"picture": 4, "image": 4, "label": 3}.items() <= found.items()


def test_kinds_that_come_in_another_order_send_nothing(house: Publishing) -> None:
    before = known(house)
    turned = dict(reversed(list(before.kinds.items())))
    assert sent_again(house, str(replace(before, kinds=turned))) == {}
    with house.database.read() as session:
        assert ledger.laid(session) == str(before)


def test_pictures_that_are_there_are_not_sent_where_nothing_is_known(
    house: Publishing, files: Files
) -> None:
    found = sent_again(house, "")
    assert "picture" not in found
    assert {"image": 4, "label": 3}.items() <= found.items()
    with house.database.write.begin() as session:
        project = catalogue.find(session, "boards").id
        first = session.scalar(select(func.min(ImageRow.id)).filter_by(project_id=project))
        other = update(ImageRow).where(ImageRow.id == first).values(sha256=files.put(b"other"))
        session.execute(other)
    test_pictures.enlist(house, files)
    with house.database.write.begin() as session:
        session.execute(delete(OutboxRow))
    # All of a part go together: those of twenty images.
    assert sent_again(house, "")["picture"] == 4
    shown = house.place.ask("SELECT image_id, sha256 FROM loupe_picture_now")
    assert dict(shown)[first] == files.put(b"other")


def test_what_is_kept_of_a_layout_is_read_as_it_was(tmp_path: Path) -> None:
    where = address.Address("sqlite", make_url(f"sqlite:///{tmp_path}/x.db"))
    wanted = layouts.of(where)
    assert layouts.read(str(wanted)) == wanted
    assert layouts.read("").lacks(wanted) == list(KINDS)
    assert replace(wanted, place="elsewhere").lacks(wanted) == list(KINDS)
    assert wanted.lacks(wanted) == []
