"""Who holds a job: a process, named so that its death can be recognised on the same machine."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from pathlib import Path

import psutil


def me() -> str:
    """This process's name: machine, process id, and the moment it began."""
    return name(os.getpid())


def name(pid: int) -> str:
    """The name of a living process of this machine."""
    return f"{_machine()}:{pid}:{_birth(pid)}"


def gone(holder: str) -> bool:
    """Whether that process is certainly dead; one on another machine is never certain."""
    machine, pid, birth = _split(holder)
    return machine == _machine() and pid > 0 and _birth(pid) != birth


def space() -> str:
    """Six letters for the process ids that this process can see; short, for folders' names."""
    host, _, rest = _machine().partition("/")
    ids = rest.partition("/")[2]  # without the boot: what is left of before it is dead for certain
    return hashlib.sha256(f"{host}/{ids}".encode()).hexdigest()[:6]


def parts(holder: str) -> tuple[str, int]:
    """The machine's name for people, and the process id."""
    machine, pid, _ = _split(holder)
    return machine.partition("/")[0], pid


def _split(holder: str) -> tuple[str, int, str]:
    machine, _, rest = holder.partition(":")
    pid, _, birth = rest.partition(":")
    return machine, int(pid) if pid.isdecimal() else 0, birth


def _machine() -> str:
    """Two containers may share a host's name, but not its space of process ids."""
    host = socket.gethostname().replace(":", "-")
    if sys.platform != "linux":
        return host
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    return f"{host}/{boot}/{os.stat('/proc/self/ns/pid').st_ino}"


def _birth(pid: int) -> str:
    """When a process began; empty when it is dead or only waits to be reaped."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return _ticks(pid) if sys.platform == "linux" else str(process.create_time())
    except (psutil.Error, FileNotFoundError, ProcessLookupError):
        return ""


def _ticks(pid: int) -> str:
    """Linux counts from the boot, so that a corrected clock changes nothing."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
