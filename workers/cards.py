"""The graphics cards of this machine that torch can use."""

from __future__ import annotations

import sys
from pathlib import Path

DRIVERS = tuple(Path("/dev", name) for name in ("nvidiactl", "nvidia0", "dxg", "kfd"))


def names() -> list[str]:
    """What each is called; where none can be, torch is not asked, which takes seconds to read."""
    if sys.platform == "linux" and not any(driver.exists() for driver in DRIVERS):
        return []
    import torch

    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def device() -> str:
    """Where a model computes without somebody's wish."""
    return "cuda:0" if names() else "cpu"
