"""Writers of one process write in the order in which they came, and nobody waits for ever."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest
from sqlalchemy import event, text

from backend.errors import Refused, Unavailable
from backend.projects import catalogue
from backend.storage import engine
from backend.storage.writers.turns import Turns


def _waiting(turns: Turns, number: int) -> None:
    while len(turns._waiting) < number:
        pass


def test_who_came_first_writes_first() -> None:
    turns, order = Turns(), list[int]()

    def write(number: int) -> None:
        turns.take()
        order.append(number)
        turns.give_back()

    turns.take()
    writers = [threading.Thread(target=write, args=(n,)) for n in range(5)]
    for number, writer in enumerate(writers):
        writer.start()
        _waiting(turns, number + 1)
    turns.give_back()
    for writer in writers:
        writer.join()
    assert order == [0, 1, 2, 3, 4]


def test_who_has_waited_too_long_is_told_and_holds_up_nobody() -> None:
    turns = Turns(patience=0.01)
    turns.take()
    with pytest.raises(Unavailable, match="nothing was saved"):
        turns.take()
    turns.give_back()
    turns.take()


def test_a_transaction_gives_its_turn_back_however_it_ends(tmp_path: Path) -> None:
    database = engine.open_url(f"sqlite:///{tmp_path / 'loupe.db'}")
    engine.create_tables(database)
    with pytest.raises(Refused), database.write.begin() as session:
        catalogue.create(session, "")
    left = database.engine.connect()
    left.execute(text("DELETE FROM project"))
    del left
    gc.collect()
    with database.write.begin() as session:
        catalogue.create(session, "second")
    database.close()


def test_the_next_one_begins_when_the_one_before_is_written(tmp_path: Path) -> None:
    database = engine.open_url(f"sqlite:///{tmp_path / 'loupe.db'}")
    engine.create_tables(database)
    said: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *of: said.append(str(of[2])))
    begun = threading.Event()

    def write() -> None:
        begun.set()
        with database.write.begin() as session:
            catalogue.create(session, "second")

    with database.write.begin() as session:
        catalogue.create(session, "first")
        other = threading.Thread(target=write)
        other.start()
        begun.wait()
    other.join()
    ends = [one for one in said if one in ("BEGIN IMMEDIATE", "COMMIT")]
    assert ends == ["BEGIN IMMEDIATE", "COMMIT"] * 2
    database.close()
