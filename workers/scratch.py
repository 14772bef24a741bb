"""The temp folders of our processes, named by their process, so that nothing outlives a kill."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

from backend.errors import Unavailable
from backend.jobs import holder

NAME = "loupe-"
TRIES = 20


def folder(pid: int) -> Path:
    """A process's own, seen from one that has not moved in; short, as sockets' paths must be.

    Containers may share a temp folder, but not their process ids.
    """
    return Path(tempfile.gettempdir()) / f"{NAME}{holder.space()}-{pid}"


def own() -> Path:
    """This process's folder, whether it has moved in or not."""
    here, wanted = Path(tempfile.gettempdir()), folder(os.getpid())
    return here if here.name == wanted.name else wanted


def move_in() -> None:
    """From now on this process, and all that it starts, keep their temp files in its folder."""
    home = own()
    home.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        home.mkdir(mode=0o700)
    _check(home)
    os.environ["TMPDIR"] = tempfile.tempdir = str(home)


def _check(home: Path) -> None:
    """Where everybody may write, somebody may have made the folder before us."""
    found = home.lstat()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not ours or found.st_mode & 0o077:
        raise Unavailable(
            f"The temp folder {home} was made by somebody else, or is open to others. Remove it, "
            "or name another place for temp files with TMPDIR."
        )


def clear(pid: int) -> None:
    """Remove what a dead process has left; descendants that still die may write meanwhile."""
    for _ in range(TRIES):
        shutil.rmtree(folder(pid), ignore_errors=True)
        if not folder(pid).exists():
            return
        time.sleep(0.05)


def clear_dead() -> None:
    """Remove what the processes of killed workers have left."""
    ours = f"{NAME}{holder.space()}-"
    for path in folder(0).parent.glob(f"{ours}*"):
        pid = path.name.removeprefix(ours)
        dead = pid.isdecimal() and not psutil.pid_exists(int(pid))
        if dead and path.lstat().st_uid == os.getuid():
            clear(int(pid))
