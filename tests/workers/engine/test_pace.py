"""What a run says of itself while it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.engine import chunks
from workers.engine.chunks import Looked, Status
from workers.engine.pace import RunMeter


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
