"""A card that nobody could give is refused before anything waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend import settings
from backend.jobs import cards, drivers, holder, presence
from backend.storage.engine import Database

GPU = {"device": "gpu"}


@pytest.fixture(autouse=True)
def without_card(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine of which no driver knows a card."""
    monkeypatch.setattr(drivers, "DRIVERS", ())
    monkeypatch.delenv("LOUPE_RAY_ADDRESS", raising=False)
    settings.current.cache_clear()
    yield
    settings.current.cache_clear()


def missing(database: Database, values: dict[str, str]) -> list[str]:
    with database.read() as session:
        return list(cards.missing(session, values))


def test_the_workers_that_live_know_whether_there_is_a_card(database: Database) -> None:
    for has, told in ((False, [cards.NOWHERE]), (True, [])):
        with database.write.begin() as session:
            presence.show(session, holder.me(), {"state": "off", "cards": has})
        assert missing(database, GPU) == told
        assert missing(database, {"device": "auto"}) == missing(database, {}) == []
    with database.write.begin() as session:
        presence.show(session, holder.me(), {"state": "off"})  # of an earlier version
    assert missing(database, GPU) == []


def test_where_no_worker_lives_this_machine_is_looked_at(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert missing(sqlite, GPU) == [cards.NOWHERE]
    monkeypatch.setenv("LOUPE_RAY_ADDRESS", "10.0.0.7:6379")
    settings.current.cache_clear()
    assert missing(sqlite, GPU) == []
    monkeypatch.delenv("LOUPE_RAY_ADDRESS")
    settings.current.cache_clear()
    monkeypatch.setattr(drivers, "DRIVERS", (tmp_path,))
    assert missing(sqlite, GPU) == []
