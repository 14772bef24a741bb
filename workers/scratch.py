"""The temp folders of our processes, named by their process, so that nothing outlives a kill."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from backend.errors import Unavailable
from backend.jobs import holder

NAME = "loupe-"
TRIES = 20
# What Ray keeps in a folder, where its processes write there, and from which size on it is swept.
SESSIONS, LOGS, MOST = "session_*", "logs", 500_000_000


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
        if pid.isdecimal() and _is_ours(path) and not psutil.pid_exists(int(pid)):
            clear(int(pid))


def sweep(most: int = MOST) -> int:
    """Keep what Ray's processes have said within so many bytes, and tell how many Ray's files take.

    Of those that have ended the oldest goes first; what is written down by the living stays.
    """
    homes = [one for one in own().parent.glob(f"{NAME}{holder.space()}-*") if _is_ours(one)]
    sessions = [one for home in homes for one in home.glob(SESSIONS) if _is_ours(one)]
    files = sorted(one for session in sessions for one in _files(session))
    total = sum(size for _, _, size in files)
    for _, path, size in files:
        if total <= most:
            break
        if LOGS in path.parts and _is_of_the_dead(path):
            with suppress(OSError):
                path.unlink(missing_ok=True)
                total -= size
    return total


def _is_ours(path: Path) -> bool:
    """A folder that we have made; where everybody may write, others lay what is called so, too."""
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return False


def _files(home: Path) -> Iterator[tuple[float, Path, int]]:
    """All that is in a folder, and since when; what goes while we look counts nothing."""
    for at, _, names in os.walk(home):
        for path in (Path(at, name) for name in names):
            with suppress(OSError):
                told = path.lstat()
                if stat.S_ISREG(told.st_mode):
                    yield told.st_mtime, path, told.st_size


def _is_of_the_dead(path: Path) -> bool:
    """Ray names the files of a process by its number, at their end; that of a job begins with 0."""
    number = re.search(r"[-_]([1-9]\d{0,8})(?:\.\d+)?\.(?:log|out|err)(?:\.\d+)?$", path.name)
    return number is not None and not psutil.pid_exists(int(number[1]))
