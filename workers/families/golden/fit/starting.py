"""Where to begin laying a golden on a picture, the cheap and likely ways first."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from workers.families.golden.fit import alignment, laying, turning
from workers.families.golden.fit.laying import Matrix, Pixels

COARSE, FINE = 80, 160  # pixels, the longer sides of the pyramid's pictures
STRETCH, AWAY = 1.25, 0.25  # a factor; a share of the board's size
SHOWN = 0.4  # share of the golden that a picture shows at least


def straight(board: Pixels, golden: Pixels) -> Matrix:
    """As they are: one frame on the other."""
    (height, width), (high, wide) = board.shape, golden.shape
    rows = laying.larger(np.eye(2, 3), width, wide)[0], laying.larger(np.eye(2, 3), height, high)[1]
    return np.asarray(rows)


def near(board: Pixels, golden: Pixels) -> Iterator[Matrix]:
    """Turned and moved a little, if that is plausible."""
    start = straight(board, golden)
    found = _pyramid(board, golden, start)
    if _plausible(found, start, board.shape):
        yield found


def turned(board: Pixels, golden: Pixels) -> Iterator[Matrix]:
    """In any turn, best first, where the picture shows enough of the golden then."""
    for turn in turning.candidates(board, golden):
        if _shown(turn.transform, board, golden) > SHOWN:
            yield turn.transform


def _plausible(transform: Matrix, straight: Matrix, board: tuple[int, ...]) -> bool:
    """No board is stretched by much, nor shown by a corner only."""
    stretch = np.linalg.svd(transform[:, :2] / np.diag(straight), compute_uv=False)
    middle = np.array([board[1] / 2, board[0] / 2, 1.0])
    away = np.abs((transform - straight) @ middle) / (2 * straight @ middle)
    return bool(stretch.max() < STRETCH and stretch.min() > 1 / STRETCH and away.max() < AWAY)


def _shown(transform: Matrix, board: Pixels, golden: Pixels) -> float:
    """Which share of the golden lies within the picture."""
    high, wide = golden.shape
    across, down = np.meshgrid(np.linspace(0, wide, 9), np.linspace(0, high, 9))
    back = np.linalg.inv(np.vstack([transform, [0, 0, 1]]))
    here = alignment.moved(back, np.column_stack([across.ravel(), down.ravel()]))
    return float(((here >= 0) & (here < np.array(board.shape[::-1]))).all(axis=1).mean())


def _pyramid(board: Pixels, golden: Pixels, start: Matrix) -> Matrix:
    """ECC from coarse to fine: turn and shift first, then any affine change."""
    turn = _ecc(board, golden, start, COARSE, cv2.MOTION_EUCLIDEAN)
    return _ecc(board, golden, turn, FINE, cv2.MOTION_AFFINE)


def _ecc(board: Pixels, golden: Pixels, start: Matrix, side: int, kind: int) -> Matrix:
    ours, our_scale = _reduced(board, side)
    theirs, their_scale = _reduced(golden, side)
    matrix = laying.larger(start, our_scale, their_scale).astype(np.float32)
    whole = np.ones(ours.shape, np.uint8)
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-3)
    try:
        found = cv2.findTransformECC(ours, theirs, matrix, kind, criteria, whole, 1)[1]
    except cv2.error:  # no structure, or it did not converge
        return start
    return laying.larger(np.asarray(found, np.float64), 1 / our_scale, 1 / their_scale)


def _reduced(picture: Pixels, side: int) -> tuple[NDArray[np.float32], float]:
    scale = side / max(picture.shape)
    size = (max(8, round(picture.shape[1] * scale)), max(8, round(picture.shape[0] * scale)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(small, (0, 0), 1.2), np.float32), scale
