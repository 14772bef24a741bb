"""A place on a stage as the source of an import, fetched by Snowflake's own connector."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from backend.errors import Cancelled, Invalid, NotFound, Refused, Unavailable
from backend.incoming import fetched, names, stages
from backend.settings import Settings
from backend.storage.files import Files
from tests.backend.incoming import snow
from tests.backend.incoming.snow import House
from tests.snowflake import double


@pytest.fixture
def house(tmp_path: Path, emulator: int, emulator_log: Path) -> House:
    """A house beside the emulator."""
    emulator_log.unlink(missing_ok=True)
    return snow.house(tmp_path, emulator, emulator_log)


def stored(house: House) -> dict[str, str]:
    with closing(sqlite3.connect(house.home / "loupe.db")) as ours:
        return dict(ours.execute("SELECT name, sha256 FROM image"))


def hashes(drawn: dict[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in drawn.items()}


def bring(house: House, place: str) -> dict[str, str]:
    """Bring a place into the store; the hash of each of its files."""
    store = Files(str(house.home / "files"), house.home / "cache")
    cache = house.home / "cache"
    with stages.brought(place, house.place.address, cache, store, lambda *_: None) as found:
        return {one.name: one.sha256 for one in found}


def test_equal_names_in_many_folders_all_arrive_under_their_paths(
    house: House, tmp_path: Path
) -> None:
    drawn = snow.draw(tmp_path / "drawn", 4, 5)
    deeper = snow.draw(tmp_path / "drawn" / "line 0", 2, 5)
    drawn |= {f"line 0/{name}": data for name, data in deeper.items()}
    (tmp_path / "drawn" / "line 1" / "movie.mp4").write_bytes(b"no picture")
    house.place.put(tmp_path / "drawn", "@pictures/day 1")
    assert bring(house, "@s1.pictures/day 1") == hashes(drawn)
    # The same place, in other words, and a part of it.
    assert bring(house, '@"PICTURES"/day 1/') == hashes(drawn)
    assert bring(house, "@pictures/day 1/line 2/board'3.png") == hashes(
        {"board'3.png": drawn["line 2/board'3.png"]}
    )
    assert Counter(house.handed_out()) == Counter(f"day 1/{name}" for name in drawn)


def test_a_place_that_is_a_file_brings_that_file_alone(house: House, tmp_path: Path) -> None:
    drawn = snow.draw(tmp_path / "drawn", 1, 3)
    house.place.put(tmp_path / "drawn", "@pictures")
    name = "board'1.png"
    assert bring(house, f"@pictures/line 0/{name}") == hashes({name: drawn[f"line 0/{name}"]})
    assert house.handed_out() == [f"line 0/{name}"]


def test_what_a_killed_process_had_copied_in_part_is_fetched_again(
    house: House, tmp_path: Path
) -> None:
    drawn = snow.draw(tmp_path / "drawn", 1, 2)
    house.place.put(tmp_path / "drawn", "@pictures")
    bring(house, "@pictures")
    [file] = house.home.glob("cache/stages/*/files.db")
    cut, whole = sorted(drawn)
    with closing(sqlite3.connect(file)) as ledger, ledger:
        ledger.execute("UPDATE file SET sha256 = '', box = 'left', box_token = token")
    (file.parent / "left").mkdir()
    (file.parent / "left" / cut.rpartition("/")[2]).write_bytes(drawn[cut][:-40])
    (file.parent / "left" / whole.rpartition("/")[2]).write_bytes(drawn[whole])
    assert bring(house, "@pictures") == hashes(drawn)
    assert Counter(house.handed_out()) == {cut: 2, whole: 1}


def test_a_killed_import_goes_on_and_fetches_nothing_twice(house: House, tmp_path: Path) -> None:
    drawn = snow.draw(tmp_path / "drawn", 24, 5)
    house.place.put(tmp_path / "drawn", "@pictures")
    child = house.start("boards", "@pictures", "folders")
    while len(house.handed_out()) < 40 and child.poll() is None:
        time.sleep(0.005)
    child.kill()
    child.wait()
    assert child.stdout is not None
    child.stdout.close()
    before = kept(house)
    done = house.import_("boards", "@pictures", "folders")
    assert done["images"] + done["skipped"] == 120
    assert stored(house) == hashes(drawn)
    times = Counter(house.handed_out())
    assert len(times) == 120
    assert all(times[name] == 1 for name in before)
    # What was on its way when the process died has to come again.
    assert sum(times.values()) <= 120 + 8 * 5


def kept(house: House) -> list[str]:
    """What the ledger says to be in the store."""
    [file] = house.home.glob("cache/stages/*/files.db")
    with closing(sqlite3.connect(file)) as ledger:
        told = ledger.execute("SELECT name FROM file WHERE sha256 != ''")
        return [name for (name,) in told]


def test_who_waits_for_another_process_can_be_stopped(tmp_path: Path) -> None:
    def stop() -> None:
        raise Cancelled("It was asked to stop.")

    with (
        fetched.opened(tmp_path, stop),
        pytest.raises(Cancelled),
        fetched.opened(tmp_path, stop),
    ):
        pass
    with fetched.opened(tmp_path, stop):
        pass


def test_who_waits_for_a_get_can_be_stopped(house: House, tmp_path: Path) -> None:
    snow.draw(tmp_path / "drawn", 1, 2)
    house.place.put(tmp_path / "drawn", "@pictures")
    store = Files(str(house.home / "files"), house.home / "cache")
    held = house.log.with_name(double.HELD)
    held.touch()
    seen: list[tuple[int, list[str]]] = []

    def told(done: int, _: int) -> None:
        seen.append((done, house.handed_out()))
        if len(seen) > 1:
            held.unlink()  # what is on its way is waited for
            raise Cancelled("It was asked to stop.")

    known, cache = house.place.address, house.home / "cache"
    with pytest.raises(Cancelled), stages.brought("@pictures", known, cache, store, told):
        pass
    assert seen == [(0, []), (0, [])]
    assert len(bring(house, "@pictures")) == 2


def test_a_changed_file_is_fetched_anew_and_one_that_the_store_lost_too(
    house: House, tmp_path: Path
) -> None:
    drawn = snow.draw(tmp_path / "drawn", 1, 3)
    house.place.put(tmp_path / "drawn", "@pictures")
    bring(house, "@pictures")
    changed, lost, same = sorted(drawn)
    drawn[changed] = snow.draw(tmp_path / "other", 1, 4)["line 0/board'3.png"]
    (tmp_path / "drawn" / changed).write_bytes(drawn[changed])
    house.place.put(tmp_path / "drawn", "@pictures")
    digest = hashlib.sha256(drawn[lost]).hexdigest()
    (house.home / "files" / digest[:2] / digest).unlink()
    assert bring(house, "@pictures") == hashes(drawn)
    assert Counter(house.handed_out()) == {changed: 2, lost: 2, same: 1}


def test_a_place_that_is_not_there_is_told_in_a_sentence(house: House) -> None:
    with pytest.raises(Unavailable, match="does not exist"):
        bring(house, "@missing/x")
    house.place.change("CREATE STAGE empty")
    with pytest.raises(NotFound, match=r"There are no pictures at @\w+\.S1\.EMPTY"):
        bring(house, "@empty")
    assert house.handed_out() == []


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("@my-stage/x", "has to stand in double quotes"),
        (f"@{'x' * 256}", "1 to 255 characters"),
        ('@"a/b"', "has a slash in its name"),
        ("@a.b.c.d/x", "names nothing in Snowflake"),
        ("@", "names nothing in Snowflake"),
        ('@"a', "names nothing in Snowflake"),
    ],
)
def test_what_is_no_place_is_refused_before_anything_is_asked(source: str, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        names.stage(source)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("@pics", "@PICS"),
        ("@d.s.pics/Day 1/x.png", "@D.S.PICS/Day 1/x.png"),
        ('@"my ""stage"/a/', '@"my ""stage"/a'),
        ("@~/a", "@~/a"),
        ("@s.%boards/a", "@S.%BOARDS/a"),
    ],
)
def test_a_place_is_written_as_sql_takes_it(said: str, meant: str) -> None:
    assert str(names.stage(said)) == meant
    assert names.stage(meant) == names.stage(said)


def test_without_snowflake_a_stage_is_refused_by_the_setting(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="LOUPE_WAREHOUSE_URL"):
        stages.check("@pictures", Settings(home=tmp_path))
