"""Pictures of a project on a stage as files: they come back as they were."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from backend.domain import Box, Split, State, Task
from backend.errors import Refused
from backend.incoming import putting
from backend.incoming.putting import Outgoing
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.engine import Database
from backend.storage.files import Files
from tests.backend.incoming import snow
from tests.backend.incoming.snow import House
from tests.backend.warehouse.test_pictures import told

BOXES = [Box(1, 2.0625, 8.5, 9, "mouse bite, 'x'"), Box(3, 3, 9.25, 10, "3")]
# The emulator itself breaks at a single quote in the name of a stage.
HOSTILE = '"weird %s; DROP STAGE pictures; --é"'
LONG = '"' + "s" * 255 + '"'
PLACES = (
    ("pictures", "day [1]/*boards?'; --"), ("pictures", "a/b/c/d"), (HOSTILE, "x"), (LONG, "y")
)  # fmt: skip


@pytest.fixture
def house(tmp_path: Path, emulator: int, emulator_log: Path) -> House:
    """A house beside the emulator, with an empty stage."""
    made = snow.house(tmp_path, emulator, emulator_log)
    made.place.change("CREATE STAGE pictures")
    return made


def fill(database: Database, files: Files, folder: Path) -> None:
    """A golden, boards with boxes and without in folders of each other, one that is not done."""
    drawn = list(snow.draw(folder, 2, 3).values())
    names = ("golden.png", "a [1]/x*.png", "a [1]/deep/z.png", "b/y?'.png", "b/new.png")
    kept = dict(zip(names, map(files.put, drawn), strict=False))
    golden, boxed, deep, clean, new = (
        NewImage(name, kept[name], 16, 16, golden="golden.png") for name in names
    )
    told = [
        replace(golden, is_golden=True, golden=""),
        replace(boxed, split=Split.TRAIN, group="lot 7"),
        replace(deep, split=Split.TEST),
        replace(clean, split=Split.VAL),
        new,
    ]
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", classes=[one.label for one in BOXES])
        images.add(session, project.id, told, "ana")
        ids = images.ids(session, project.id, names)
        for name in names[1:4]:
            boxes = BOXES if name == boxed.name else []
            labelling.save(session, ids[name], 0, boxes, "ana", state=State.DONE)


def outgoing(house: House, database: Database, files: Files) -> Outgoing:
    return Outgoing(database, files, house.home / "cache", house.place.address)


@pytest.mark.parametrize(("stage", "path"), PLACES)
def test_what_was_put_on_a_stage_comes_back_as_it_was(
    house: House, sqlite: Database, files: Files, tmp_path: Path, stage: str, path: str
) -> None:
    house.place.change(f"CREATE STAGE IF NOT EXISTS {stage}")
    fill(sqlite, files, tmp_path / "drawn")
    done = putting.put(outgoing(house, sqlite, files), "boards", f"@{stage}/{path}").exported
    assert (done.images, done.goldens, done.boxes) == (3, 1, 2)
    assert done.left_out == {"new": 1}
    assert not list((house.home / "cache" / "outgoing").rglob("*.png"))
    house.import_("back", f"@{stage}/{path}")
    there = [row for row in told_elsewhere(house) if row]
    assert there == [row for row in told(sqlite, "boards") if row[0] != "b/new.png"]


def told_elsewhere(house: House) -> list[tuple[object, ...]]:
    back = engine.open_url(f"sqlite:///{house.home / 'loupe.db'}")
    try:
        return told(back, "back")
    finally:
        back.close()


def test_classes_of_pictures_come_back_and_what_is_lost_is_told(
    house: House, sqlite: Database, files: Files, tmp_path: Path
) -> None:
    drawn = list(snow.draw(tmp_path / "drawn", 1, 3).values())
    names = ("a/good one.png", "b.png", "lost.png")
    with sqlite.write.begin() as session:
        project = catalogue.create(session, "parts", task=Task.CLASSIFY, classes=["good", "bad"])
        new = [NewImage(one, files.put(of), 16, 16) for one, of in zip(names, drawn, strict=True)]
        images.add(session, project.id, new, "ana")
        ids = images.ids(session, project.id, names)
        for name, label in zip(names, ("good", "bad", "bad"), strict=True):
            labelling.save(session, ids[name], 0, [], "ana", state=State.DONE, label=label)
    files.local_path(new[2].sha256).unlink()
    done = putting.put(outgoing(house, sqlite, files), "parts", "@pictures/parts").exported
    assert [(one.file, "not in the store" in one.reason) for one in done.problems] == [
        ("lost.png", True)
    ]
    house.import_("back", "@pictures/parts")
    back = engine.open_url(f"sqlite:///{house.home / 'loupe.db'}")
    with back.read() as session:
        project = catalogue.find(session, "back")
        found = {name: images.find(session, project.id, name).label for name in names[:2]}
    back.close()
    assert (project.task, found) == (Task.CLASSIFY, {names[0]: "good", names[1]: "bad"})


def test_a_place_with_files_of_somebody_else_is_left_as_it_is(
    house: House, sqlite: Database, files: Files, tmp_path: Path
) -> None:
    fill(sqlite, files, tmp_path / "drawn")
    snow.draw(tmp_path / "other", 1, 1)
    house.place.put(tmp_path / "other", "@pictures/a")
    where = outgoing(house, sqlite, files)
    with pytest.raises(Refused, match="1 file that this project would not put there, such as a/"):
        putting.put(where, "boards", "@pictures/a")
    left = house.home / "cache" / "outgoing" / "other" / "set"
    left.mkdir(parents=True)  # as by one that was killed
    # What only begins as the place does is none of it; and once more is as good as once.
    for _ in range(2):
        assert putting.put(where, "boards", "@pictures/a/line").exported.images == 3
    assert not left.exists()


def test_once_more_only_what_is_missing_is_sent_and_what_has_gone_is_taken_away(
    house: House, sqlite: Database, files: Files, tmp_path: Path
) -> None:
    fill(sqlite, files, tmp_path / "drawn")
    where = outgoing(house, sqlite, files)
    first = putting.put(where, "boards", "@pictures/a")
    # The same place in other words; nothing has changed.
    again = putting.put(where, "boards", '@s1."PICTURES"/a/')
    assert (first.sent > 4, first.gone, again.sent, again.gone) == (True, 0, 0, 0)
    with sqlite.write.begin() as session:
        project = catalogue.find(session, "boards").id
        kept = images.ids(session, project, ["a [1]/x*.png", "b/new.png"])
        images.put_away(session, [kept["a [1]/x*.png"]])
        labelling.save(session, kept["b/new.png"], 0, BOXES, "ana", state=State.DONE)
    [ledger] = house.home.glob("cache/outgoing/*/sent-*.db")
    with closing(sqlite3.connect(ledger)) as sent, sent:  # as by one that was killed meanwhile
        sent.execute("UPDATE file SET token = '' WHERE name LIKE '%x*.png'")
    third = putting.put(where, "boards", "@pictures/a")
    # The picture, and the labels of its split, in which nothing else was.
    assert (third.gone, 1 < third.sent < first.sent) == (2, True)
    house.import_("back", "@pictures/a")
    there = [row for row in told_elsewhere(house) if row]
    assert there == [row for row in told(sqlite, "boards") if row[0] != "a [1]/x*.png"]


def test_while_a_picture_is_lost_here_nothing_is_taken_away_there(
    house: House, sqlite: Database, files: Files, tmp_path: Path
) -> None:
    fill(sqlite, files, tmp_path / "drawn")
    where = outgoing(house, sqlite, files)
    putting.put(where, "boards", "@pictures/a")
    with sqlite.read() as session:
        project = catalogue.find(session, "boards").id
        lost = images.find(session, project, "a [1]/x*.png").sha256
    path = files.local_path(lost)
    path.rename(tmp_path / "away")
    again = putting.put(where, "boards", "@pictures/a")
    assert (len(again.exported.problems), again.gone) == (1, 0)
    (tmp_path / "away").rename(path)
    whole = putting.put(where, "boards", "@pictures/a")
    assert (whole.exported.problems, whole.exported.images, whole.gone) == ((), 3, 0)


def test_what_another_project_has_put_there_is_left_as_it_is(
    house: House, sqlite: Database, files: Files, tmp_path: Path
) -> None:
    fill(sqlite, files, tmp_path / "drawn")
    where = outgoing(house, sqlite, files)
    putting.put(where, "boards", "@pictures/a")
    [drawn] = snow.draw(tmp_path / "other", 1, 1).values()
    with sqlite.write.begin() as session:
        other = catalogue.create(session, "other", classes=["open"]).id
        images.add(session, other, [NewImage("other.png", files.put(drawn), 16, 16)], "ana")
        ids = images.ids(session, other, ["other.png"])
        labelling.save(session, ids["other.png"], 0, [], "ana", state=State.DONE)
    with pytest.raises(Refused, match="that this project would not put there"):
        putting.put(where, "other", "@pictures/a")
    again = putting.put(where, "boards", "@pictures/a")
    assert (again.sent, again.gone) == (0, 0)


def test_what_somebody_else_has_put_in_the_place_of_ours_is_left(
    house: House, sqlite: Database, files: Files, tmp_path: Path
) -> None:
    fill(sqlite, files, tmp_path / "drawn")
    where = outgoing(house, sqlite, files)
    putting.put(where, "boards", "@pictures/a")
    [theirs] = snow.draw(tmp_path / "other", 1, 1).values()
    (tmp_path / "other" / "b").mkdir()
    (tmp_path / "other" / "b" / "y?'.png").write_bytes(theirs + b"more")
    shutil.rmtree(tmp_path / "other" / "line 0")
    house.place.put(tmp_path / "other", "@pictures/a/images")
    with sqlite.write.begin() as session:
        project = catalogue.find(session, "boards").id
        images.put_away(session, list(images.ids(session, project, ["b/y?'.png"]).values()))
    with pytest.raises(Refused, match=r"such as .*b/y\?'.png: name a place"):
        putting.put(where, "boards", "@pictures/a")
