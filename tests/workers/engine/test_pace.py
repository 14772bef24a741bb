"""What a run says of itself while it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.engine import chunks
from workers.engine.chunks import Looked, Status
from workers.engine.pace import RunMeter, Stopwatch


def test_a_run_says_how_fast_it_is_and_how_busy_its_devices_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nprintf '80, 2000, 8000\\n40, 2000, 8000'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    pace = RunMeter(10)
    pace.begin(8)
    looked = [Looked(0), Looked(1, status=Status.UNREADABLE, error="broken")]
    pace.saw(chunks.pack(0, looked, "here", decode_seconds=1.0, infer_seconds=3.0))
    done, said = pace.progress()
    assert done == 0.4
    assert said.startswith("4 of 10 images · ")
    assert " · 1 failed · decode 25% · infer 75% · write 0% · cores " in said
    assert said.endswith("% busy · cards 60% busy")


def test_a_run_says_where_its_time_went() -> None:
    clock = Stopwatch()
    clock.lap("list")
    clock.lap("fetch")
    clock.lap("list")
    assert list(clock.parts) == ["list", "fetch"]
    assert RunMeter(0, clock.parts).facts()["parts"]["start"] == 0
    pace = RunMeter(2, {"list": 0.5, "fetch": 2.0, "start": 7.0})
    pace.begin(2)
    pace.saw(chunks.pack(0, [Looked(0)], "here", decode_seconds=1.0, infer_seconds=3.0))
    pace.saw(chunks.pack(1, [Looked(1)], "there", decode_seconds=0.5, infer_seconds=1.0))
    pace.wrote(0.25)
    parts = pace.facts()["parts"]
    assert parts.pop("start") >= 7
    assert parts == {"list": 0.5, "fetch": 2.0, "decode": 1.5, "forward": 4.0, "write": 0.25}
