"""Proposals: the places where a difference is too deep to be the edge's own."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden import difference as differing
from workers.families.golden.difference import Difference, Mask
from workers.families.golden.options import GoldenOptions

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MUCH, FEW = 0.05, 400  # of the edges' pixels; pixels
DEEPENED = 3.0  # pixels, at most
_SUMS = ("corners", "inner", "polarity", "area", "core", "deepest", "mean_depth")


@dataclass(frozen=True, slots=True)
class Regions:
    """The pixels of all proposals of one picture as flat lists, and what was summed over each."""

    x: Ints
    y: Ints
    owner: Ints
    corners: Ints  # (n, 4) x1, y1, x2, y2 around the pixels, end exclusive
    inner: Ints  # and around those of the core
    polarity: Ints
    area: Ints
    core: Ints
    deepest: Floats
    mean_depth: Floats

    def __len__(self) -> int:
        return len(self.area)

    def box(self, index: int) -> tuple[int, int, int, int]:
        """The corners of one proposal."""
        x1, y1, x2, y2 = self.corners[index].tolist()
        return x1, y1, x2, y2


def find(difference: Difference, settings: GoldenOptions) -> Regions:
    """The proposals of a picture, added copper before removed, at most `settings.most`."""
    depth = tolerance(difference, settings.tolerance)
    parts = [
        _of(difference, each, depth, settings) for each in (differing.ADDED, differing.REMOVED)
    ]
    return _largest(_joined(*parts), settings.most)


def tolerance(difference: Difference, usual: float) -> float:
    """How deep edges differ on this pair: more than usual if much of all edges differs so."""
    edges = int(np.count_nonzero((difference.depth < 1.2) & (difference.golden > 0)))
    depths = difference.depth[difference.changed > 0]
    deepened = usual
    while deepened < usual + DEEPENED and _between(depths, deepened) > max(MUCH * edges, FEW):
        deepened += 1
    return deepened


def _between(depths: NDArray[np.float32], least: float) -> int:
    return int(((depths > least) & (depths <= least + 1)).sum())


def _of(
    difference: Difference, polarity: int, tolerance: float, settings: GoldenOptions
) -> Regions:
    changed = difference.of(polarity)
    core = changed & (difference.depth > tolerance).view(np.uint8)
    region = np.asarray(cv2.dilate(core, _square(settings.grow)), np.uint8) & changed
    count, labels = cv2.connectedComponents(cv2.dilate(region, _square(settings.join)))
    y, x = np.divmod(np.flatnonzero(region), region.shape[1])
    owner = labels[y, x].astype(np.int64) - 1
    return _summed(x, y, owner, core[y, x], difference.depth[y, x], polarity, count - 1, settings)


def _summed(
    x: Ints, y: Ints, owner: Ints, core: Mask, depth: NDArray[np.float32],
    polarity: int, count: int, settings: GoldenOptions,
) -> Regions:  # fmt: skip
    cores = np.bincount(owner, core, count).astype(np.int64)
    keep = cores >= settings.smallest
    names = np.cumsum(keep) - 1
    chosen = keep[owner]
    x, y, depth, owner = x[chosen], y[chosen], depth[chosen], names[owner[chosen]]
    count = int(keep.sum())
    area = np.bincount(owner, minlength=count)
    deepest = np.zeros(count)
    np.maximum.at(deepest, owner, depth)
    mean = np.bincount(owner, depth, count) / np.maximum(area, 1)
    deep = core[chosen] > 0
    return Regions(
        x, y, owner, _corners(x, y, owner, count),
        _corners(x[deep], y[deep], owner[deep], count),
        np.full(count, polarity), area, cores[keep], deepest, mean,
    )  # fmt: skip


def _corners(x: Ints, y: Ints, owner: Ints, count: int) -> Ints:
    corners = np.zeros((count, 4), np.int64)
    corners[:, :2] = np.iinfo(np.int64).max
    np.minimum.at(corners[:, 0], owner, x)
    np.minimum.at(corners[:, 1], owner, y)
    np.maximum.at(corners[:, 2], owner, x + 1)
    np.maximum.at(corners[:, 3], owner, y + 1)
    return corners


def _joined(first: Regions, second: Regions) -> Regions:
    def both(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    names = ("x", "y", *_SUMS)
    owner = np.concatenate([first.owner, second.owner + len(first)])
    return Regions(owner=owner, **{name: both(name) for name in names})  # type: ignore[arg-type]


def _largest(regions: Regions, most: int) -> Regions:
    if len(regions) <= most:
        return regions
    keep = np.zeros(len(regions), bool)
    keep[np.argsort(-regions.core, kind="stable")[:most]] = True
    names, chosen = np.cumsum(keep) - 1, keep[regions.owner]
    return Regions(
        regions.x[chosen],
        regions.y[chosen],
        names[regions.owner[chosen]],
        *(getattr(regions, name)[keep] for name in _SUMS),
    )


def _square(radius: int) -> Mask:
    return np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
