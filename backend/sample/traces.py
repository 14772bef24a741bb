"""The ways that traces run over the cells of a grid."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Cells = NDArray[np.intp]


def path(start: tuple[int, int], end: tuple[int, int], rng: Generator) -> Cells:
    """As traces run: straight, at 45 degrees, straight; or round a cut corner."""
    rise, run = end[0] - start[0], end[1] - start[1]
    if rng.random() < 0.3:
        return _corner(start, end, rng)
    if abs(rise) > abs(run):
        bend = int(rng.integers(0, abs(rise) - abs(run) + 1))
        return staircase(start[::-1], end[::-1], bend)[:, ::-1]
    return staircase(start, end, int(rng.integers(0, abs(run) - abs(rise) + 1)))


def staircase(start: tuple[int, int], end: tuple[int, int], bend: int) -> Cells:
    """Straight, after `bend` columns at 45 degrees, then straight."""
    rise, run = end[0] - start[0], end[1] - start[1]
    across = np.arange(abs(run) + 1)
    rows = start[0] + np.sign(rise) * np.clip(across - bend, 0, abs(rise))
    return np.stack((rows, start[1] + np.sign(run) * across), 1).astype(np.intp)


def _corner(start: tuple[int, int], end: tuple[int, int], rng: Generator) -> Cells:
    """Along the rows, round a cut corner, along the columns; or the other way."""
    rise, run = end[0] - start[0], end[1] - start[1]
    cut = int(rng.integers(0, min(abs(rise), abs(run)) + 1))
    steps = [(np.sign(rise), 0)] * (abs(rise) - cut)
    steps += [(np.sign(rise), np.sign(run))] * cut
    steps += [(0, np.sign(run))] * (abs(run) - cut)
    if rng.random() < 0.5:
        steps.reverse()
    return np.cumsum([start, *steps], axis=0).astype(np.intp)
