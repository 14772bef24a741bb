"""How a golden may lie on a picture of which nothing is known: any turn, somewhat larger or moved.

Both are made small and evened out; a spectrum tells for each turn and scale the best shift.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden.fit import laying
from workers.families.golden.fit.laying import Matrix, Pixels

Floats = NDArray[np.float32]
SIDE, FRAME = 80, 128  # pixels: the golden's longer side, and that of the squares compared
TURNS, SCALES = 90, (0.94, 1.0, 1.06)
ENLARGED = 1.6  # by how much a frame may have grown around a board
ALIKE = 0.025  # scales so near to one another are one
APART, MOST = 7.0, 4  # degrees between two candidates, and how many there are
FLATTER, EVENER = 6.0, 10.0  # pixels, sigma
QUIET = 8.0  # grey levels that are noise


@dataclass(frozen=True, slots=True)
class Turned:
    """A candidate: how well it fits, and where it takes a point of the picture."""

    worth: float
    angle: float
    transform: Matrix  # (2, 3)


def candidates(board: Pixels, golden: Pixels) -> list[Turned]:
    """The best turns that are well apart, best first."""
    scales = SIDE / max(board.shape), SIDE / max(golden.shape)
    ours, theirs = _even(board, scales[0]), _even(golden, scales[1])
    corner = (FRAME - np.array(theirs.shape[::-1])) // 2
    canvas = np.zeros((FRAME, FRAME), np.float32)
    canvas[corner[1] :, corner[0] :][: theirs.shape[0], : theirs.shape[1]] = theirs
    spectrum, power = cv2.dft(canvas), float(np.linalg.norm(canvas))
    found = [
        _turn(ours, np.asarray(spectrum, np.float32), power, factor, angle)
        for factor in _factors(scales[1] / scales[0])
        for angle in np.arange(TURNS) * (360 / TURNS)
    ]
    return [_full(each, corner, *scales) for each in _apart(found)]


def _even(picture: Pixels, scale: float) -> Floats:
    """A small picture whose light and contrast are the same everywhere."""
    size = tuple(max(8, round(length * scale)) for length in picture.shape[::-1])
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    small -= cv2.GaussianBlur(small, (0, 0), FLATTER)
    contrast = np.sqrt(cv2.GaussianBlur(small * small, (0, 0), EVENER)) + QUIET
    return np.asarray(small / contrast, np.float32)


def _factors(pixels: float) -> list[float]:
    """Around as large as the golden is in its frame, and as large as it is in pixels."""
    told = list(SCALES)
    for scale in SCALES if 1 / ENLARGED < pixels < ENLARGED else ():
        if all(abs(pixels * scale / other - 1) > ALIKE for other in told):
            told.append(pixels * scale)
    return told


def _turn(ours: Floats, spectrum: Floats, power: float, factor: float, angle: float) -> Turned:
    middle = (np.array(ours.shape[::-1]) - 1) / 2
    matrix = np.asarray(cv2.getRotationMatrix2D(middle.tolist(), angle, factor), np.float64)
    matrix[:, 2] += (FRAME - 1) / 2 - middle
    turned = cv2.warpAffine(ours, matrix, (FRAME, FRAME))
    product = cv2.mulSpectrums(spectrum, cv2.dft(turned), 0, conjB=True)
    told = cv2.idft(product, flags=cv2.DFT_SCALE | cv2.DFT_REAL_OUTPUT)
    _, best, _, place = cv2.minMaxLoc(told)
    shift = (np.array(place) + FRAME // 2) % FRAME - FRAME // 2
    matrix[:, 2] += shift
    return Turned(best / (power * float(np.linalg.norm(turned)) + 1e-9), angle, matrix)


def _apart(found: list[Turned]) -> list[Turned]:
    kept: list[Turned] = []
    for each in sorted(found, key=lambda turn: -turn.worth):
        if all(abs((each.angle - one.angle + 180) % 360 - 180) > APART for one in kept):
            kept.append(each)
        if len(kept) == MOST:
            break
    return kept


def _full(turn: Turned, corner: NDArray[np.int64], ours: float, theirs: float) -> Turned:
    """In pixels of full size, of the golden itself."""
    matrix = turn.transform.copy()
    matrix[:, 2] -= corner
    return Turned(turn.worth, turn.angle, laying.larger(matrix, 1 / ours, 1 / theirs))
