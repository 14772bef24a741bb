"""`loupe detect` over a place on a stage of Snowflake, as a person calls it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.app.commands.finding import WEIGHTS
from tests.backend.incoming import snow


@pytest.mark.again
@pytest.mark.timeout(1500)
def test_a_run_over_a_stage_names_the_stage_and_each_picture_by_its_path(
    tmp_path: Path, emulator: int, emulator_log: Path
) -> None:
    house = snow.house(tmp_path, emulator, emulator_log)
    drawn = snow.draw(tmp_path / "drawn", 2, 2)
    (tmp_path / "drawn" / "line 0" / "notes.txt").write_text("no picture")
    house.place.put(tmp_path / "drawn", "@pictures/july")
    how = ("--model", str(WEIGHTS), "--runtime", "torch", "--wait", "--json")
    told = subprocess.run(
        [sys.executable, "-m", "app.cli", "detect", "@pictures/july", *how],
        env=house.environment, capture_output=True, text=True, check=True, timeout=1400,
    )  # fmt: skip
    answer = json.loads(told.stdout)
    assert (answer["images"], answer["failed"]) == (4, 0)
    with closing(sqlite3.connect(house.home / "loupe.db")) as ours:
        [(source,)] = ours.execute("SELECT source FROM run")
        names = [name for (name,) in ours.execute("SELECT name FROM run_image ORDER BY name")]
    assert json.loads(source) == {"path": "@PICTURES/july"}
    assert names == sorted(drawn)
