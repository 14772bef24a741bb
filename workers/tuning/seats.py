"""How many trials this machine carries out at once, and what each of them computes on."""

from __future__ import annotations

import os

import psutil

from backend.jobs import needs
from backend.jobs.needs import Need
from workers.tuning.errands import Seat

# What the process of a trial takes: libraries, network, optimizer, a batch.
NEEDS = 1.2e9


def of_machine(need: Need, wanted: int, most: int) -> list[Seat]:
    """A seat a card (or a part of one), else a core, as far as memory goes; `wanted`: at most."""
    cores = sorted(os.sched_getaffinity(0))
    cards = 0 if need.device == needs.CPU else _cards()
    each = max(NEEDS, need.memory_gb * 1e9)
    fit = max(1, int(psutil.virtual_memory().available / each))
    # The part of a trial is one of one card: three cards hold six trials of .4, not seven.
    count = min(wanted or most, most, fit, cards * int(1 / need.share) or len(cores))
    if cards:
        named = names(cards)
        return [
            Seat(f"cuda:{at % cards}", share(cores, at, count), named[at % cards])
            for at in range(count)
        ]
    return [Seat(_named(share(cores, at, count)), share(cores, at, count)) for at in range(count)]


def names(cards: int) -> list[str]:
    """What our cards are called where a process is told which of the machine's are its own."""
    given = [one.strip() for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    return given[:cards] if len(given) >= cards and all(given) else [str(at) for at in range(cards)]


def _cards() -> int:
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def share(cores: list[int], at: int, count: int) -> list[int]:
    """Every so-manieth core; where there are fewer than seats, one of them."""
    return cores[at::count] or [cores[at % len(cores)]]


def _named(cores: list[int]) -> str:
    return f"cpu {','.join(map(str, cores[:4]))}{'…' if len(cores) > 4 else ''}"
