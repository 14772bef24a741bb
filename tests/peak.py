"""How much memory a piece of work takes at most, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

_TOLD = """
import resource, sys
from backend.errors import LoupeError
begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    {work}
except LoupeError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun) // 1024)
"""


def megabytes(work: str, *words: object) -> tuple[str, int]:
    """What the work said where it was refused, and its peak above that of Python itself."""
    command = [sys.executable, "-c", _TOLD.format(work=work), *map(str, words)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    *said, peak = told.splitlines()
    return " ".join(said), int(peak)
