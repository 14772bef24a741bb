"""Photographs of boards: a difference that allows for noise, light and half a pixel of shift."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden.difference import Difference, Mask

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
NOISE, LEAST, MOST = 2.25, 18.0, 60.0  # times the usual difference; grey levels
FAINTER = 2 / 3  # of the threshold: what belongs to a difference once it is one
SMALL = 16  # how much smaller the pictures are by which light is compared
LIGHT = 3.0  # grey levels that need no correction
LEAST_SHOWN = 0.1  # share of the surroundings from which light is known
TWO_GREYS = 0.9  # share of a picture's variance that its two greys explain
DEEP = 1.5  # what the threshold becomes on the scale of `Settings.tolerance`
THREE = np.ones((3, 3), np.uint8)


def compare(
    board: Pixels, golden: Pixels, allowed: Mask | None = None, shown: Mask | None = None
) -> Difference:
    """The difference of a photograph and its golden, laid on one another.

    The golden's copper is what is lighter than its laminate; a change of copper was removed, a
    change of laminate added, each as a whole. `allowed` is by how much good boards of the lot
    stand out there, `shown` is 1 where the golden shows something at all.
    """
    golden = lit_alike(golden, board, shown)
    apart = _brightest(cv2.absdiff(board, golden))
    usual = float(np.percentile(_there(apart, shown, 8), 99))
    threshold = min(max(NOISE * usual, LEAST), MOST)
    beyond = _beyond(board, golden)
    if allowed is not None:
        apart, beyond = (
            np.asarray(cv2.subtract(each, allowed), np.uint8) for each in (apart, beyond)
        )
    changed = ((apart > FAINTER * threshold) | (beyond > threshold)).astype(np.uint8)
    copper = _decided(_copper(golden, shown), changed)
    depth = beyond.astype(np.float32) * np.float32(DEEP / threshold)
    return Difference(copper ^ changed, copper, changed, depth)


def standing_out(board: Pixels, golden: Pixels, shown: Mask | None = None) -> Mask:
    """By how much a photograph stands out from what its golden shows nearby."""
    return _beyond(board, lit_alike(golden, board, shown))


def _there(picture: Pixels, shown: Mask | None, step: int) -> Pixels:
    """Each so manieth pixel that the golden shows."""
    few = np.ascontiguousarray(picture[::step, ::step])
    told = few if shown is None else few[shown[::step, ::step] > 0].reshape(-1, 1)
    return told if told.size else few


def lit_alike(golden: Pixels, board: Pixels, shown: Mask | None = None) -> Pixels:
    """The golden in the light of the board: what changes slowly over the picture is light."""
    size = (max(2, board.shape[1] // SMALL), max(2, board.shape[0] // SMALL))
    ours, theirs = (
        cv2.resize(each, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        for each in (board, golden)
    )
    light = _slow(ours - theirs, max(size) / 16)
    if shown is not None:
        share = cv2.resize(shown, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        share = _slow(share, max(size) / 16)
        light /= np.maximum(share if light.ndim == 2 else share[..., None], LEAST_SHOWN)
    if float(np.abs(light).max()) < LIGHT:
        return golden
    whole = cv2.resize(light.astype(np.int16), (board.shape[1], board.shape[0]))
    lit = cv2.add(golden, whole, golden.copy(), shown, cv2.CV_8U)  # elsewhere lies the board itself
    return np.asarray(lit, np.uint8)


def _slow(picture: Floats, sigma: float) -> Floats:
    blurred = cv2.GaussianBlur(picture, (0, 0), sigma, borderType=cv2.BORDER_REFLECT)
    return np.asarray(blurred, np.float32)


def _beyond(board: Pixels, golden: Pixels) -> Mask:
    """How far a pixel lies outside of what the golden shows within one pixel of it."""
    above = cv2.subtract(board, cv2.dilate(golden, THREE))
    below = cv2.subtract(cv2.erode(golden, THREE), board)
    return _brightest(cv2.max(above, below))


def _brightest(picture: cv2.typing.MatLike) -> Mask:
    """The largest channel."""
    if picture.ndim == 2:
        return np.asarray(picture, np.uint8)
    blue, green, red = cv2.split(picture)
    return np.asarray(cv2.max(cv2.max(blue, green), red), np.uint8)


def _copper(golden: Pixels, shown: Mask | None) -> Mask:
    """1 where the golden is lighter than laminate, which is the darkest of its two or three greys.

    Three, where bare pads shine brighter than copper under lacquer.
    """
    grey = golden if golden.ndim == 2 else cv2.cvtColor(golden, cv2.COLOR_BGR2GRAY)
    level = _above_laminate(_there(np.asarray(grey, np.uint8), shown, 4))
    return np.asarray(cv2.threshold(grey, level, 1, cv2.THRESH_BINARY)[1], np.uint8)


def _above_laminate(grey: Pixels) -> int:
    """Otsu's threshold if two greys explain the picture, else the lower of his two."""
    counts = cv2.calcHist([grey], [0], None, [256], [0, 256]).ravel().astype(np.float64)
    levels = np.arange(256)
    below, sums = counts.cumsum(), (counts * levels).cumsum()
    middle = sums[-1] ** 2 / below[-1]
    total = float(counts @ (levels * levels)) - middle
    two = _spread(below[:-1], sums[:-1]) + _spread(below[-1] - below[:-1], sums[-1] - sums[:-1])
    if (two.max() - middle) / max(total, 1e-9) > TWO_GREYS:
        return int(two.argmax())
    low, high = np.triu_indices(255, 1)
    three = (
        _spread(below[low], sums[low])
        + _spread(below[high] - below[low], sums[high] - sums[low])
        + _spread(below[-1] - below[high], sums[-1] - sums[high])
    )
    return int(low[int(three.argmax())])


def _spread(counts: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a class adds to Otsu's measure."""
    return np.asarray(sums * sums / np.maximum(counts, 1))


def _decided(copper: Mask, changed: Mask) -> Mask:
    """Each change lies on copper or on laminate as most of it does."""
    count, labels = cv2.connectedComponents(changed, connectivity=8)
    places = np.flatnonzero(changed)
    owner = labels.ravel()[places]
    share = np.bincount(owner, copper.ravel()[places], count) / np.maximum(
        np.bincount(owner, minlength=count), 1
    )
    decided = copper.copy()
    decided.ravel()[places] = share[owner] > 0.5
    return decided
