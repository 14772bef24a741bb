"""Where a board's copper differs from its golden's, and how deep each difference is."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.uint8]
Floats = NDArray[np.float32]
REMOVED, ADDED = 0, 1
COLOUR = 16.0  # grey levels between the channels
TWO = 0.85  # share of the pixels
FLAT = 40.0  # grey levels; less is a picture of one grey
ETCHED, BESIDE, LEAST_EDGES = 0.1, 4.0, 500  # pixels
HALF = 0.5  # pixels, from the middle of a pixel beside an edge to the edge
DEEPEST = 30.0  # pixels; deeper says no more, and a golden without any copper has no edge


@dataclass(frozen=True, slots=True)
class Difference:
    """Masks are 0 or 1; `depth` is the distance of a pixel from the golden's nearest edge."""

    board: Mask
    golden: Mask
    changed: Mask
    depth: Floats

    def of(self, polarity: int) -> Mask:
        """The pixels that were added to the golden's copper, or removed from it."""
        return self.changed & (self.board if polarity == ADDED else self.golden)


def grey(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """One channel."""
    if picture.ndim == 2:
        return picture
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8)


def colourful(picture: NDArray[np.uint8]) -> bool:
    """Whether a BGR picture shows any colour to speak of."""
    few = picture[::8, ::8]
    return float(np.ptp(few, axis=2).mean()) > COLOUR


def two_greys(picture: NDArray[np.uint8]) -> bool:
    """Whether nearly all pixels are near one of two greys that are well apart, or all are one."""
    low, high = levels(picture)
    few = picture[::4, ::4].astype(np.float32)
    near = np.minimum(np.abs(few - low), np.abs(few - high)) < (high - low) / 5
    return high - low > FLAT and float(near.mean()) > TWO


def levels(picture: NDArray[np.uint8]) -> tuple[float, float]:
    """The two greys of a picture, which Otsu's threshold tells apart."""
    counts = cv2.calcHist([picture], [0], None, [256], [0, 256]).ravel()
    split = 1 + int(cv2.threshold(picture, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[0])
    greys = np.arange(256)
    below, above = counts[:split], counts[split:]
    if not below.any() or not above.any():
        return 0.0, 255.0
    return (
        float(greys[:split] @ below / below.sum()),
        float(greys[split:] @ above / above.sum()),
    )


def levelled(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture with its two greys brought to black and white."""
    low, high = levels(picture)
    if high - low < FLAT:
        return picture
    table = (np.arange(256) - low) * (255 / (high - low))
    return np.asarray(cv2.LUT(picture, table.clip(0, 255).astype(np.uint8)), np.uint8)


def stretched(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A photograph's greys, from its darkest to its lightest regions, over the whole range."""
    low, high = np.percentile(picture[::4, ::4], (2, 98))
    if high - low < FLAT / 2:
        return picture
    table = (np.arange(256) - low) * (255 / (high - low))
    return np.asarray(cv2.LUT(picture, table.clip(0, 255).astype(np.uint8)), np.uint8)


def copper(picture: NDArray[np.uint8], dark: bool) -> Mask:
    """1 where a levelled picture shows copper."""
    kind = cv2.THRESH_BINARY_INV if dark else cv2.THRESH_BINARY
    return np.asarray(cv2.threshold(picture, 127, 1, kind)[1], np.uint8)


def compare(board: Mask, golden: Mask) -> Difference:
    """The difference of two masks of one size that lie on one another.

    Copper that is etched wider or narrower all over is no defect: the golden follows it.
    """
    outside = cv2.distanceTransform(1 - golden, cv2.DIST_L2, cv2.DIST_MASK_3)
    inside = cv2.distanceTransform(golden, cv2.DIST_L2, cv2.DIST_MASK_3)
    depth = np.minimum(np.asarray(outside + inside, np.float32), np.float32(DEEPEST))
    changed = board ^ golden
    wider = _wider(board, golden, changed, depth)
    if abs(wider) >= ETCHED:
        beyond = np.where(golden > 0, depth - np.float32(HALF), np.float32(HALF) - depth)
        beyond += np.float32(wider)
        golden = (beyond > 0).view(np.uint8)
        depth, changed = np.abs(beyond) + np.float32(HALF), board ^ golden
    return Difference(board, golden, changed, depth)


def _wider(board: Mask, golden: Mask, changed: Mask, depth: Floats) -> float:
    """By how many pixels the board's copper reaches beyond the golden's at a usual edge."""
    edges = cv2.countNonZero(golden & (depth < 1.2).view(np.uint8))
    beside = changed & (depth < BESIDE).view(np.uint8)
    added = cv2.countNonZero(beside & board)
    return (2 * added - cv2.countNonZero(beside)) / max(edges, LEAST_EDGES)
