"""Whether this machine may have a card, told by what drivers leave; nothing else is read for it."""

from __future__ import annotations

import sys
from pathlib import Path

DRIVERS = tuple(Path("/dev", name) for name in ("nvidiactl", "nvidia0", "dxg", "kfd"))


def driven() -> bool:
    """Whether this machine may have a card; elsewhere than on Linux there is no telling."""
    return sys.platform != "linux" or any(driver.exists() for driver in DRIVERS)
