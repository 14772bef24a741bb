"""How processes of ours are started: none takes a module from the folder that we were started in.

Python puts that folder before all others for `-m` and for what multiprocessing starts, so that a
package of somebody's that is called `workers`, or a `torch.py`, would run in the place of ours.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from contextlib import suppress
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

ENVIRONMENT = {"PYTHONSAFEPATH": "1"}
_HIDING = Lock()
BEHIND = 5  # of nineteen: a third of the time where somebody else wants all of it, too


def shut() -> None:
    """From now on nothing that this process starts looks for modules in the folder it is in."""
    os.environ.update(ENVIRONMENT)


def command(module: str, *words: str) -> list[str]:
    """The command that runs a module of ours."""
    shut()
    return [sys.executable, "-P", "-m", module, *words]


def line(program: str, *words: str) -> list[str]:
    """The command that runs a program of one line."""
    shut()
    return [sys.executable, "-P", "-c", program, *words]


def step_back(pid: int) -> None:
    """From now on a process works with what those leave over that answer people."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, pid, BEHIND)
    # Where sessions share a machine evenly, what a process is in its own session is not enough.
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(BEHIND))


def context(method: str) -> BaseContext:
    """The way in which multiprocessing starts processes: `spawn` or `forkserver`."""
    shut()
    return Spawning() if method == "spawn" else multiprocessing.get_context(method)


class Bare(SpawnProcess):
    """A process that does not import anew the program that starts it, only what it is to do.

    Python has no switch for that: what it tells the process of the program, it asks the module
    `__main__`.
    """

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802
        with _HIDING:
            program = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                sys.modules["__main__"] = program


class Spawning(SpawnContext):
    """Starts processes from nothing, each of them bare."""

    Process = Bare
