"""Where a brush must go to make each kind of defect; a proposal, checked afterwards."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from backend.sample.ground import Ground

Spot = tuple[float, float]
# Points (row, column) around the spot, and a radius for each.
Stroke = tuple[NDArray[np.float64], NDArray[np.float64]]


def _stroke(rng: Generator, start: Spot, end: Spot, thin: float, thick: float) -> Stroke:
    """From start to end as by a shaky brush."""
    length = float(np.hypot(end[0] - start[0], end[1] - start[1]))
    count = max(3, int(length / 1.5))
    along = np.linspace(0, 1, count)[:, None]
    sway = np.array([start[0] - end[0], end[1] - start[1]])[::-1] / max(length, 1)
    bow = np.sin(np.pi * along) * rng.normal(0, 0.12 * length)
    points = np.asarray(start) * (1 - along) + np.asarray(end) * along + sway * bow
    points += rng.normal(0, 0.5, points.shape)
    base = rng.uniform(thin, thick)
    return points, np.clip(base * rng.uniform(0.7, 1.3, count), 1.3, None)


def _blob(rng: Generator, room: float) -> Stroke:
    """A worm of a blot that stays within `room` of the spot."""
    angle = rng.uniform(0, 2 * np.pi)
    reach = rng.uniform(0.2, 0.8) * min(room, 18)
    half = (reach * np.sin(angle), reach * np.cos(angle))
    thick = min(max(room - reach, 2.2), 7.5)
    return _stroke(rng, half, (-half[0], -half[1]), 0.55 * thick, thick)


def _outward(ground: Ground, y: int, x: int) -> Spot | None:
    """The direction away from the copper at an edge."""
    patch = ground.copper[y - 6 : y + 7, x - 6 : x + 7]
    rows, cols = patch.nonzero()
    dy, dx = 6 - rows.mean(), 6 - cols.mean()
    length = float(np.hypot(dy, dx))
    return (dy / length, dx / length) if length > 0.8 else None


def _march(ground: Ground, y: int, x: int, direction: Spot, steps: int) -> NDArray[np.int32]:
    """The pieces met on the way, zero for laminate; nothing beyond the picture."""
    far = np.arange(1, steps + 1)
    rows = np.rint(y + far * direction[0]).astype(np.intp)
    cols = np.rint(x + far * direction[1]).astype(np.intp)
    height, width = ground.pieces.shape
    within = (rows >= 0) & (cols >= 0) & (rows < height) & (cols < width)
    met: NDArray[np.int32] = ground.pieces[rows[within], cols[within]]
    return met


def _first(found: NDArray[np.bool_], otherwise: int) -> int:
    where = found.nonzero()[0]
    return int(where[0]) + 1 if len(where) else otherwise


def pin_hole(rng: Generator, ground: Ground, y: int, x: int) -> Stroke | None:
    return _blob(rng, float(ground.inside[y, x]) - 4)


def copper(rng: Generator, ground: Ground, y: int, x: int) -> Stroke | None:
    return _blob(rng, float(ground.outside[y, x]) - 5)


def mousebite(rng: Generator, ground: Ground, y: int, x: int) -> Stroke | None:
    out = _outward(ground, y, x)
    if out is None:
        return None
    width = _first(_march(ground, y, x, (-out[0], -out[1]), 40) == 0, 40)
    depth = min(rng.uniform(6, 18), 0.6 * width)
    if depth < 3.5:
        return None
    thick = min(depth * 0.5, 4.5)
    deep = depth - thick
    slant = rng.normal(0, 0.5)
    end = (-out[0] * deep + out[1] * slant * deep, -out[1] * deep - out[0] * slant * deep)
    return _stroke(rng, (out[0] * 1.5, out[1] * 1.5), end, 0.65 * thick, thick)


def spur(rng: Generator, ground: Ground, y: int, x: int) -> Stroke | None:
    out = _outward(ground, y, x)
    if out is None:
        return None
    room = _first(_march(ground, y, x, out, 30)[2:] > 0, 30) - 4
    reach = min(rng.uniform(8, 22), room)
    if reach < 6:
        return None
    thick = min(rng.uniform(2.6, 5.5), reach * 0.45)
    far = reach - thick
    slant = rng.normal(0, 0.4)
    end = (out[0] * far + out[1] * slant * far, out[1] * far - out[0] * slant * far)
    return _stroke(rng, (-out[0], -out[1]), end, 0.6 * thick, thick)


def short(rng: Generator, ground: Ground, y: int, x: int) -> Stroke | None:
    out = _outward(ground, y, x)
    if out is None:
        return None
    met = _march(ground, y, x, out, 48)
    gap = _first((met > 0) & (np.arange(len(met)) >= 3), 0)
    if gap < 5 or met[gap - 1] == ground.pieces[y, x]:
        return None
    thick = rng.uniform(1.8, min(6.0, 2.5 + gap / 4))
    return _stroke(rng, (-out[0], -out[1]), (out[0] * gap, out[1] * gap), 0.7 * thick, thick)


def cut(rng: Generator, ground: Ground, y: int, x: int) -> Stroke | None:
    """A cut through a trace, along the shortest way across."""
    best: tuple[int, Spot, int, int] | None = None
    for angle in np.arange(8) * np.pi / 8:
        way = (float(np.sin(angle)), float(np.cos(angle)))
        there = _first(_march(ground, y, x, way, 30) == 0, 99)
        back = _first(_march(ground, y, x, (-way[0], -way[1]), 30) == 0, 99)
        if there + back < (best[0] if best else 48):
            best = (there + back, way, there, back)
    if best is None:
        return None
    _, way, there, back = best
    thick = rng.uniform(2.6, 5.5)
    start = (-way[0] * back, -way[1] * back)
    return _stroke(rng, start, (way[0] * there, way[1] * there), 0.85 * thick, thick)
