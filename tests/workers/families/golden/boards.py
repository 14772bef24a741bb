"""Small boards drawn for the tests: dark copper on light laminate, and one defect of each kind."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
LAMINATE, COPPER = 255, 0
SIZE = 320


def golden(seed: int = 0) -> Pixels:
    """Tracks of ten pixels that bend, and round pads; every seed another product."""
    chance = np.random.default_rng(seed)
    board = np.full((SIZE, SIZE), LAMINATE, np.uint8)
    bend = int(chance.integers(100, 220))
    slope = int(chance.choice([-30, 30]))
    for y in range(30, SIZE - 10, 40):
        track = np.array([[0, y], [bend, y], [bend + 40, y + slope], [SIZE, y + slope]], np.int32)
        cv2.polylines(board, [track], False, COPPER, 10)
    for x, y in chance.integers(30, SIZE - 30, (6, 2)).tolist():
        cv2.circle(board, (x, y), int(chance.integers(14, 22)), COPPER, -1)
    return board


def plain() -> Pixels:
    """Four straight tracks at y = 60, 100, 200, 260 and a large pad, where one knows the spots."""
    board = np.full((SIZE, SIZE), LAMINATE, np.uint8)
    for y in (60, 100, 200, 260):
        cv2.line(board, (0, y), (SIZE, y), COPPER, 11)
    cv2.circle(board, (240, 150), 28, COPPER, -1)
    return board


def _line(board: Pixels, start: tuple[int, int], end: tuple[int, int], grey: int) -> None:
    cv2.line(board, start, end, grey, 6)


DEFECTS: dict[str, Callable[[Pixels], object]] = {
    "open": lambda board: cv2.rectangle(board, (80, 50), (88, 70), LAMINATE, -1),
    "short": lambda board: _line(board, (150, 60), (150, 100), COPPER),
    "mousebite": lambda board: cv2.circle(board, (120, 195), 5, LAMINATE, -1),
    "spur": lambda board: cv2.circle(board, (60, 250), 6, COPPER, -1),
    "copper": lambda board: cv2.circle(board, (60, 150), 6, COPPER, -1),
    "pin-hole": lambda board: cv2.circle(board, (240, 150), 4, LAMINATE, -1),
}


def moved(board: Pixels, angle: float = 0, x: float = 0, y: float = 0, scale: float = 1) -> Pixels:
    """The board turned and scaled about its middle, then shifted."""
    matrix, size = motion(angle, x, y, scale), (board.shape[1], board.shape[0])
    return np.asarray(
        cv2.warpAffine(board, matrix, size, borderMode=cv2.BORDER_REPLICATE), np.uint8
    )


def motion(angle: float = 0, x: float = 0, y: float = 0, scale: float = 1) -> NDArray[np.float64]:
    """Where that takes each place."""
    matrix = cv2.getRotationMatrix2D((SIZE / 2, SIZE / 2), angle, scale)
    matrix[:, 2] += np.array([x, y])
    return np.asarray(matrix, np.float64)
