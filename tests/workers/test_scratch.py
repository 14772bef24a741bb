"""The temp folders of processes: theirs alone, and gone with them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.errors import Unavailable
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


def test_what_rays_dead_have_said_is_kept_within_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    logs = scratch.own() / "session_1" / "logs"
    logs.mkdir(parents=True)
    dead, lives = 999999999, os.getpid()
    names = [f"worker-ab-01000000-{dead}.out", f"python-core-worker-ab_{dead}.log"]
    names += [f"event_CORE_WORKER_{dead}.log", f"worker-ab-01000000-{lives}.err", "raylet.out"]
    for at, name in enumerate(names):
        (logs / name).write_bytes(b"x" * 1000)
        os.utime(logs / name, (at, at))
    assert scratch.sweep(6000) == 5000
    assert scratch.sweep(4000) == 4000
    assert {one.name for one in logs.iterdir()} == set(names[1:])
    assert scratch.sweep(0) == 2000
    assert {one.name for one in logs.iterdir()} == set(names[3:])


def test_what_is_not_rays_own_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pictures of a training may be large; Ray's logs are not to go for them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    logs, laid_out = scratch.own() / "session_1" / "logs", scratch.own() / "pictures"
    for folder in (logs, laid_out):
        folder.mkdir(parents=True)
        (folder / "worker_999999999.log").write_bytes(b"x" * 1000)
    assert scratch.sweep(1000) == 1000
    assert (logs / "worker_999999999.log").exists()


def test_of_the_logs_of_several_workers_the_oldest_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    logs = {}
    for pid, times in ((999999997, (1, 4)), (999999998, (2, 3))):
        folder = scratch.folder(pid) / "session_1" / "logs"
        folder.mkdir(parents=True)
        for at in times:
            logs[at] = folder / f"worker-{at}_{pid}.log"
            logs[at].write_bytes(b"x" * 1000)
            os.utime(logs[at], (at, at))
    assert scratch.sweep(2000) == 2000
    assert [at for at, path in sorted(logs.items()) if path.exists()] == [3, 4]


def test_what_others_have_laid_beside_our_temp_folders_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    logs = tmp_path / "theirs" / "session_1" / "logs"
    logs.mkdir(parents=True)
    (logs / "worker_999999999.log").write_bytes(b"x" * 1000)
    for number in (999999999, 2**40):  # a process has no such number
        scratch.folder(number).symlink_to(logs.parents[1])
    scratch.clear_dead()
    assert scratch.sweep(0) == 0
    assert [one.name for one in logs.iterdir()] == ["worker_999999999.log"]


def test_the_folder_of_another_container_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process ids are others: one that is free here may live there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    theirs = tmp_path / f"{scratch.NAME}{'0' * 6}-999999999"
    ours = scratch.folder(999999999)
    for left in (theirs, ours):
        left.mkdir()
    scratch.clear_dead()
    assert [*tmp_path.iterdir()] == [theirs]


def test_a_folder_that_somebody_else_may_read_or_has_laid_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "trap").mkdir(mode=0o700)
    lays: tuple[Callable[[Path], None], ...] = (
        lambda home: home.mkdir(mode=0o755),
        lambda home: home.symlink_to(tmp_path / "trap"),
        lambda home: home.symlink_to(tmp_path / "nowhere"),
    )
    for number, lay in enumerate(lays):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / str(number)))
        (tmp_path / str(number)).mkdir()
        lay(scratch.own())
        with pytest.raises(Unavailable, match="was made by somebody else, or is open to others"):
            scratch.move_in()
