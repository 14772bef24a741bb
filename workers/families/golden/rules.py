"""The kind of a defect by topology, and how sure one may be of it, without any label."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden.difference import ADDED, Mask

Floats = NDArray[np.float32]
Votes = NDArray[np.float64]
KINDS = ("open", "short", "mousebite", "spur", "copper", "pin-hole")
OPEN, SHORT, MOUSEBITE, SPUR, COPPER, PINHOLE = range(6)
PIECE, PIECES = 30, (20, 30, 45)  # pixels; what is left of a cut track must be this large
TOUCH, TOUCHES = 4, (2, 4, 8)  # pixels that make a touch
REACH_ADDED, REACHES_ADDED = 3, (2, 3, 4)  # pixels, across the blur of an edge
REACHES_REMOVED = (2, 3)  # the usual first
USUAL = 6  # how many votes the usual values have against their neighbours
MARGIN = 8  # pixels of surroundings looked at
MIDDLE, STEEPNESS = 1.06, 6.0
BLOT, CUT = 0.5, 0.3  # what evidence is worth in a blot of the golden, and where a picture ends
SHADOW = 0.8  # of the evidence that a larger difference right beside takes away


@dataclass(frozen=True, slots=True)
class Topology:
    """What one change does to the copper around it."""

    votes: Votes  # one share a kind: how many variants of the rules say so
    touched: int = 0  # pieces of the golden beside added copper
    second: int = 0  # pixels by which it touches the second of them
    laminate: int = 0  # pixels of laminate beside removed copper
    parted: int = 0  # how many more pieces the board has
    cut: int = 0  # and how many more it would have if the change were a pixel wider


def topology(change: Mask, board: Mask, golden: Mask, polarity: int) -> Topology:
    """What a change does; three windows of one size, `change` holds its pixels only."""
    solid = np.asarray(cv2.morphologyEx(change, cv2.MORPH_OPEN, _OPENING), np.uint8)
    return _added(solid, golden) if polarity == ADDED else _removed(solid, board, golden)


def around(
    shape: tuple[int, ...], corners: tuple[int, int, int, int], margin: int
) -> tuple[slice, slice]:
    """The window of a picture around a box."""
    x1, y1, x2, y2 = corners
    return (
        slice(max(0, y1 - margin), min(shape[0], y2 + margin)),
        slice(max(0, x1 - margin), min(shape[1], x2 + margin)),
    )


def _added(solid: Mask, golden: Mask) -> Topology:
    """Added copper by the pieces of the golden that it touches."""
    count, pieces = cv2.connectedComponents(golden, connectivity=4)
    votes = np.zeros(len(KINDS))
    touches = {}
    for reach in REACHES_ADDED:
        beside = np.asarray(cv2.dilate(solid, _DISC[reach]), np.uint8) & golden
        touches[reach] = np.sort(np.bincount(pieces[beside > 0], minlength=max(count, 3))[1:])
        for least in TOUCHES:
            votes[(COPPER, SPUR, SHORT)[min(2, _most(touches[reach], least))]] += 1
    usual = touches[REACH_ADDED]
    votes[(COPPER, SPUR, SHORT)[min(2, _most(usual, TOUCH))]] += USUAL
    return Topology(_shares(votes), _most(usual, TOUCH), int(usual[-2]))


def _most(touches: NDArray[np.int64], least: int) -> int:
    return int((touches >= least).sum())


def _removed(solid: Mask, board: Mask, golden: Mask) -> Topology:
    """Removed copper by the laminate that it touches and the pieces that it leaves."""
    reached = (cv2.dilate(solid, _DISC[reach]) for reach in REACHES_REMOVED)
    laminate = [cv2.countNonZero(np.asarray(each, np.uint8) & (1 - golden)) for each in reached]
    whole, left = _areas(golden), _areas(board & golden)
    wider = _areas(golden & (1 - np.asarray(cv2.dilate(solid, _DISC[1]), np.uint8)))
    parted = [_most(left, least) - _most(whole, least) for least in PIECES]
    cut = _most(wider, PIECE) - _most(whole, PIECE)
    votes = np.zeros(len(KINDS))
    for touch in laminate:
        for more in (*parted, cut):
            votes[_gone(touch, more)] += 1
    usual = parted[PIECES.index(PIECE)]
    votes[_gone(laminate[0], usual)] += USUAL
    return Topology(_shares(votes), laminate=laminate[0], parted=usual, cut=cut)


def _gone(laminate: int, parted: int) -> int:
    return PINHOLE if not laminate else OPEN if parted > 0 else MOUSEBITE


def _shares(votes: Votes) -> Votes:
    return np.asarray(votes / votes.sum())


def _areas(copper: Mask) -> NDArray[np.int64]:
    """The pixels of each piece."""
    stats = cv2.connectedComponentsWithStats(copper, connectivity=4)[2]
    return np.asarray(stats[1:, cv2.CC_STAT_AREA], np.int64)


def _disc(radius: int) -> Mask:
    size = 2 * radius + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)), np.uint8)


_OPENING = np.ones((2, 2), np.uint8)
_DISC = {radius: _disc(radius) for radius in (1, 2, 3, 4)}


def score(thickness: Floats, unexplained: Floats, covered: Floats, weight: Floats) -> Floats:
    """How likely each difference is a defect: thick, not undone by a small shift, on its own.

    The curve's middle and steepness are the fit of one logistic over DeepPCB's trainval pictures.
    """
    evidence = thickness * unexplained * (1 - SHADOW * covered) * weight
    ratio = (np.maximum(evidence, 1e-3) / MIDDLE) ** STEEPNESS
    return np.asarray(ratio / (1 + ratio), np.float32)
