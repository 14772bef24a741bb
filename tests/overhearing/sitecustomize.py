"""Python imports this at the start of each process that finds it on its path."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

PLACES = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0}
HERE = ("127.", "::1", "localhost", "0.0.0.0", "/", socket.gethostname())


def hear(event: str, details: tuple[Any, ...]) -> None:
    """Write down a name or an address that is not of this machine."""
    if event not in PLACES:
        return
    # A socket of this machine alone has a path in place of an address.
    place = details[PLACES[event]]
    whom = place[0] if isinstance(place, tuple) else place
    if whom and not str(whom).startswith(HERE):
        with open(os.environ["LOUPE_OVERHEARD"], "a") as file:
            file.write(f"{event} {whom}: {' '.join(sys.argv)[:80]}\n")


if "LOUPE_OVERHEARD" in os.environ:
    sys.addaudithook(hear)
