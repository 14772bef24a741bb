"""Lays a golden on a picture of the same product, or says that it does not fit."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from workers.models.golden import alignment
from workers.models.golden.alignment import Field

Pixels = NDArray[np.uint8]
Matrix = NDArray[np.float64]
APART = 64  # grey levels
GRANTED = 20.0  # grey levels, standard deviation


@dataclass(frozen=True, slots=True)
class Fit:
    """`transform` takes a point of the picture to the golden, `field` refines it before that."""

    transform: Matrix
    field: Field
    confidence: float
    residual: float

    def lay(self, golden: Pixels, width: int, height: int) -> Pixels:
        """The golden in the picture's frame."""
        x, y = alignment.grid(width, height)
        dx, dy = self.field.dense(width, height)
        x, y = x + dx, y + dy
        if not np.array_equal(self.transform, np.eye(3)):
            x, y = _moved(self.transform, x, y)
        return np.asarray(
            cv2.remap(golden, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8
        )


def register(board: Pixels, golden: Pixels, least: float, name: str = "") -> tuple[Fit, Pixels]:
    """How the golden lies on the board, both grey, and it laid there; or refused."""
    height, width = board.shape
    transform = _resized(golden.shape, board.shape)
    near = golden
    if golden.shape != board.shape:
        near = np.asarray(cv2.resize(golden, (width, height)), np.uint8)
    fit = Fit(transform, alignment.align(board, near), 0.0, 0.0)
    laid = fit.lay(golden, width, height)
    confidence, residual = agreement(board, laid)
    if confidence < least:
        raise Refused(
            f"{name or 'The picture'} does not fit its golden: they agree to {confidence:.2f}"
            f" where {least:.2f} is needed, {residual:.0%} of the pixels differ."
        )
    return Fit(transform, fit.field, confidence, residual), laid


def agreement(board: Pixels, golden: Pixels) -> tuple[float, float]:
    """The correlation of two pictures that lie on one another, and the share that differs.

    Some variance is taken for granted, so that two nearly blank pictures agree.
    """
    size = (max(16, board.shape[1] // 4), max(16, board.shape[0] // 4))
    ours, theirs = (
        cv2.resize(each, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        for each in (board, golden)
    )
    apart = float((np.abs(ours - theirs) > APART).mean())
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    granted = np.float32(ours.size * GRANTED**2)
    power = np.sqrt(((ours * ours).sum() + granted) * ((theirs * theirs).sum() + granted))
    return float(((ours * theirs).sum() + granted) / power), apart


def _resized(golden: tuple[int, ...], board: tuple[int, ...]) -> Matrix:
    return np.diag([golden[1] / board[1], golden[0] / board[0], 1.0])


def _moved(
    transform: Matrix, x: NDArray[np.float32], y: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    (a, b, c), (d, e, f), (g, h, i) = transform.astype(np.float32)
    depth = g * x + h * y + i
    return (a * x + b * y + c) / depth, (d * x + e * y + f) / depth
