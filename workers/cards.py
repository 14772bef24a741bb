"""The graphics cards of this machine that torch can use."""

from __future__ import annotations

from backend.jobs import drivers


def names() -> list[str]:
    """What each is called; where none can be, torch is not asked, which takes seconds to read."""
    if not drivers.driven():
        return []
    import torch

    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def device() -> str:
    """Where a model computes without somebody's wish."""
    return "cuda:0" if names() else "cpu"
