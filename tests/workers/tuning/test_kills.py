"""Whatever is killed, a search goes on and finds what it would have found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.tuning import curves, killing

TRIALS, KILLS = 5, 2


@pytest.fixture(autouse=True)
def family() -> Iterator[None]:
    yield
    curves.forget()


def test_a_killed_search_finds_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    undisturbed = killing.searched(tmp_path / "first", TRIALS, 0, seed=4)
    killed = killing.searched(tmp_path / "second", TRIALS, KILLS, seed=4)
    assert killed.kills == KILLS
    assert killed.trials == undisturbed.trials
    assert killed.best == undisturbed.best
    assert undisturbed.again == 0
    assert killed.again <= KILLS
