"""How processes of ours are started: none takes a module from the folder that we were started in.

Python puts that folder before all others for `-m` and for what multiprocessing starts, so that a
package of somebody's that is called `workers`, or a `torch.py`, would run in the place of ours.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from contextlib import suppress
from multiprocessing.context import BaseContext
from pathlib import Path

ENVIRONMENT = {"PYTHONSAFEPATH": "1"}
BEHIND = 5  # of nineteen: a third of the time where somebody else wants all of it, too


def shut() -> None:
    """From now on nothing that this process starts looks for modules in the folder it is in."""
    os.environ.update(ENVIRONMENT)


def command(module: str, *words: str) -> list[str]:
    """The command that runs a module of ours."""
    shut()
    return [sys.executable, "-P", "-m", module, *words]


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
    return multiprocessing.get_context(method)
