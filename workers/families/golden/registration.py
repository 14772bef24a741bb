"""Lays a golden on a picture of the same product, or says that it does not fit.

Most boards lie nearly in place, and the piecewise alignment alone brings them together. Where that
leaves doubt, the whole golden is first turned, scaled and shifted (ECC on a pyramid), and where
even that fails, started anew from matching features.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from workers.families.golden import alignment
from workers.families.golden.alignment import Field

Pixels = NDArray[np.uint8]
Matrix = NDArray[np.float64]
SURE = 0.985  # agreement at which no other start is tried
APART = 64  # grey levels
GRANTED = 20.0  # grey levels, standard deviation
STILL = 0.35  # pixels
COARSE, FINE = 80, 160  # pixels, the longer sides of the pyramid's pictures
FEATURES, INLIERS = 800, 12
STRETCH, AWAY = 1.25, 0.25  # a factor; a share of the board's size
SMALLEST, LONGEST = 16, 40  # pixels a side; length by width


@dataclass(frozen=True, slots=True)
class Registration:
    """`transform` takes a point of the picture to the golden, after `field` has refined it."""

    transform: Matrix  # (2, 3)
    field: Field
    confidence: float
    residual: float
    size: tuple[int, int] = (0, 0)  # of the golden

    def whole(self, width: int, height: int) -> Matrix:
        """The affine motion nearest to it all, to a golden stretched to the picture's size."""
        rows, columns = self.field.dx.shape
        down, across = np.mgrid[:rows, :columns].reshape(2, -1) + 0.5
        points = np.column_stack([across * width / columns, down * height / rows])
        here = np.column_stack([points, np.ones(len(points))])
        shifts = np.column_stack([self.field.dx.ravel(), self.field.dy.ravel()])
        there = alignment.moved(alignment.joined(self.transform, self.field.whole), points)
        there += shifts @ self.transform[:, :2].T
        found = np.linalg.lstsq(here, there, rcond=None)[0].T
        return np.asarray(found * (np.array([width, height]) / self.size)[:, None])

    def lay(self, golden: Pixels, board: Pixels) -> Pixels:
        """The golden in the board's frame; the board itself where the golden shows nothing."""
        height, width = board.shape[:2]
        if golden.shape == board.shape and self._still(width, height):
            return golden
        x, y = self.field.dense(width, height, self.transform)
        laid = cv2.remap(golden, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        there = cv2.remap(np.ones(golden.shape[:2], np.uint8), x, y, cv2.INTER_NEAREST)
        beyond = cv2.erode(there, np.ones((5, 5), np.uint8)) == 0
        if beyond.any():
            laid[beyond] = board[beyond]
        return np.asarray(laid, np.uint8)

    def _still(self, width: int, height: int) -> bool:
        """Whether nothing moves by as much as could be seen."""
        whole = alignment.joined(self.transform, self.field.whole)
        corners = np.array([[0.0, 0], [width, 0], [0, height], [width, height]])
        moved = np.abs(alignment.moved(whole, corners) - corners).max()
        return bool(moved + max(np.abs(self.field.dx).max(), np.abs(self.field.dy).max()) < STILL)


def register(board: Pixels, golden: Pixels, least: float, name: str = "") -> Registration:
    """How the golden lies on the board, both grey and of equal levels; refused below `least`."""
    for shown, what in ((board, name or "The picture"), (golden, "Its golden")):
        if not comparable(shown):
            raise Refused(
                f"{what} is {shown.shape[1]} × {shown.shape[0]} pixels; to be compared, a picture"
                f" needs {SMALLEST} on each side and may be {LONGEST} times as long as wide."
            )
    found = best(board, golden, least)
    if found.confidence < least:
        raise Refused(
            f"{name or 'The picture'} does not fit its golden: they agree to"
            f" {found.confidence:.2f} where {least:.2f} is needed,"
            f" {found.residual:.0%} of the pixels differ."
        )
    return found


def comparable(picture: Pixels) -> bool:
    """Whether there is enough of it in both directions."""
    short, long = sorted(picture.shape[:2])
    return bool(short >= SMALLEST and long <= LONGEST * short)


def best(board: Pixels, golden: Pixels, enough: float = SURE) -> Registration:
    """The best fit of all starts, however bad; from the second on one that is good enough."""
    fits: list[Registration] = []
    for transform in _starts(board, golden):
        fits.append(_fitted(board, golden, transform))
        if fits[-1].confidence >= SURE or (len(fits) > 1 and _best(fits).confidence >= enough):
            break
    return _best(fits)


def agreement(board: Pixels, golden: Pixels, fit: Registration) -> tuple[float, float]:
    """The correlation of two pictures laid on one another, and the share that differs.

    Some variance is taken for granted, so that two nearly blank pictures agree.
    """
    scale = min(FINE / max(board.shape), 1.0)
    small = dataclasses.replace(
        fit,
        transform=fit.transform * np.array([1, 1, scale]),
        field=alignment.resized(fit.field, scale, fit.field.dx.shape[::-1]),
    )
    reduced = [
        np.asarray(cv2.resize(each, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
        for each in (board, golden)
    ]
    theirs = small.lay(reduced[1].astype(np.uint8), reduced[0].astype(np.uint8)).astype(np.float32)
    ours = reduced[0].astype(np.float32)
    apart = float((np.abs(ours - theirs) > APART).mean())
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    granted = np.float32(ours.size * GRANTED**2)
    power = np.sqrt(((ours * ours).sum() + granted) * ((theirs * theirs).sum() + granted))
    return float(((ours * theirs).sum() + granted) / power), apart


def _best(fits: list[Registration]) -> Registration:
    return max(fits, key=lambda fit: fit.confidence)


def _starts(board: Pixels, golden: Pixels) -> Iterator[Matrix]:
    """Transforms to try, the cheap and likely ones first."""
    (height, width), (high, wide) = board.shape, golden.shape
    straight = np.array([[wide / width, 0, 0], [0, high / height, 0]])
    yield straight
    found = _pyramid(board, golden, straight)
    if _plausible(found, straight, board.shape):
        yield found
    matched = _by_features(board, golden)
    if matched is not None:
        found = _pyramid(board, golden, matched, (FINE,))
        if _plausible(found, straight, board.shape):
            yield found


def _plausible(transform: Matrix, straight: Matrix, board: tuple[int, ...]) -> bool:
    """No board is stretched by much, nor shown by a corner only."""
    stretch = np.linalg.svd(transform[:, :2] / np.diag(straight), compute_uv=False)
    middle = np.array([board[1] / 2, board[0] / 2, 1.0])
    away = np.abs((transform - straight) @ middle) / (2 * straight @ middle)
    return bool(stretch.max() < STRETCH and stretch.min() > 1 / STRETCH and away.max() < AWAY)


def _fitted(board: Pixels, golden: Pixels, transform: Matrix) -> Registration:
    field = alignment.align(board, _warped(board, golden, transform))
    confidence, residual = agreement(board, golden, Registration(transform, field, 0.0, 0.0))
    size = (golden.shape[1], golden.shape[0])
    return Registration(transform, field, confidence, residual, size)


def _warped(board: Pixels, golden: Pixels, transform: Matrix) -> Pixels:
    """The golden moved as a whole, filled up from the board."""
    if board.shape == golden.shape and np.array_equal(transform, np.eye(2, 3)):
        return golden
    size, how = (board.shape[1], board.shape[0]), cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    filled = cv2.warpAffine(
        golden, transform, size, board.copy(), flags=how, borderMode=cv2.BORDER_TRANSPARENT
    )
    return np.asarray(filled, np.uint8)


def _pyramid(
    board: Pixels, golden: Pixels, start: Matrix, sides: tuple[int, ...] = (COARSE, FINE)
) -> Matrix:
    """ECC from coarse to fine: turn and shift first, then any affine change."""
    transform = start
    for side in sides:
        kind = cv2.MOTION_EUCLIDEAN if side == COARSE else cv2.MOTION_AFFINE
        transform = _ecc(board, golden, transform, side, kind)
    return transform


def _ecc(board: Pixels, golden: Pixels, start: Matrix, side: int, kind: int) -> Matrix:
    ours, our_scale = _reduced(board, side)
    theirs, their_scale = _reduced(golden, side)
    matrix = (start * np.array([1, 1, our_scale]) / our_scale * their_scale).astype(np.float32)
    whole = np.ones(ours.shape, np.uint8)
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-3)
    try:
        found = cv2.findTransformECC(ours, theirs, matrix, kind, criteria, whole, 1)[1]
    except cv2.error:  # no structure, or it did not converge
        return start
    scales = np.array([our_scale, our_scale, 1.0]) / their_scale
    return np.asarray(found * scales, np.float64)


def _reduced(picture: Pixels, side: int) -> tuple[NDArray[np.float32], float]:
    scale = side / max(picture.shape)
    size = (max(8, round(picture.shape[1] * scale)), max(8, round(picture.shape[0] * scale)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(small, (0, 0), 1.2), np.float32), scale


def _by_features(board: Pixels, golden: Pixels) -> Matrix | None:
    """The turn, scale and shift that most matching corners agree on."""
    finder = cv2.ORB_create(FEATURES)  # type: ignore[attr-defined]
    ours, our_words = finder.detectAndCompute(board, None)
    theirs, their_words = finder.detectAndCompute(golden, None)
    if len(ours) < INLIERS or len(theirs) < INLIERS:
        return None
    pairs = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(our_words, their_words)
    here = np.array([ours[pair.queryIdx].pt for pair in pairs], np.float32)
    there = np.array([theirs[pair.trainIdx].pt for pair in pairs], np.float32)
    if len(pairs) < INLIERS:
        return None
    matrix, inliers = cv2.estimateAffinePartial2D(here, there, ransacReprojThreshold=4.0)
    if matrix is None or int(inliers.sum()) < INLIERS:
        return None
    return np.asarray(matrix, np.float64)
