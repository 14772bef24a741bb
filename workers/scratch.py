"""The temp folders of our processes, named by their process, so that nothing outlives a kill."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import psutil

NAME = "loupe-"
TRIES = 20


def folder(pid: int) -> Path:
    """A process's own, seen from one that has not moved in; short, as sockets' paths must be."""
    return Path(tempfile.gettempdir()) / f"{NAME}{pid}"


def own() -> Path:
    """This process's folder, whether it has moved in or not."""
    here = Path(tempfile.gettempdir())
    return here if here.name == f"{NAME}{os.getpid()}" else folder(os.getpid())


def move_in() -> None:
    """From now on this process, and all that it starts, keep their temp files in its folder."""
    home = own()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(home)


def clear(pid: int) -> None:
    """Remove what a dead process has left; descendants that still die may write meanwhile."""
    for _ in range(TRIES):
        shutil.rmtree(folder(pid), ignore_errors=True)
        if not folder(pid).exists():
            return
        time.sleep(0.05)


def clear_dead() -> None:
    """Remove what the processes of killed workers have left."""
    for path in folder(0).parent.glob(f"{NAME}*"):
        pid = path.name.removeprefix(NAME)
        dead = pid.isdigit() and not psutil.pid_exists(int(pid))
        if dead and path.stat().st_uid == os.getuid():
            clear(int(pid))
