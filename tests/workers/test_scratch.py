"""The temp folders of processes: theirs alone, and gone with them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from workers import scratch

LEAVE = """
import os, pathlib, tempfile
from workers import scratch
scratch.move_in()
pathlib.Path(tempfile.mkdtemp(), "left").write_text("something")
print(os.getpid(), os.environ["TMPDIR"], flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_leaves_is_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", LEAVE]
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    pid, folder = killed.stdout.split()
    assert Path(folder) == scratch.folder(int(pid))
    ours, others = scratch.own(), tmp_path / "loupe-real-data-0"
    for kept in (ours, others):
        kept.mkdir()
    assert len(list(Path(folder).rglob("left"))) == 1
    scratch.clear_dead()
    assert sorted(tmp_path.iterdir()) == sorted([ours, others])
