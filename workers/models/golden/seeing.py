"""From a picture and its golden to measured proposals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from workers.models.base import Picture, Pixels
from workers.models.golden import colour, difference, features, proposals, registration
from workers.models.golden.difference import Difference
from workers.models.golden.features import Rows
from workers.models.golden.registration import Fit
from workers.models.golden.settings import Settings


@dataclass(frozen=True, slots=True)
class Seen:
    """The proposals of one picture: bare corners in its own frame, and features."""

    corners: NDArray[np.float64]
    rows: Rows
    size: tuple[int, int]
    pad: int  # how far a box usually stands off its defect on pictures of this sort
    fit: Fit

    @property
    def boxes(self) -> NDArray[np.float64]:
        """The usual boxes."""
        return self.corners + np.array([-self.pad, -self.pad, self.pad, self.pad], np.float64)


def look(picture: Picture, settings: Settings) -> Seen:
    """What differs from the golden; refused where there is none or it does not fit."""
    if picture.golden is None:
        raise Refused(f"{picture.name or 'The picture'} has no golden to be compared with.")
    height, width = picture.pixels.shape[:2]
    settings = settings.scaled(max(height, width))
    binary = _binary(picture.pixels, picture.golden, settings.mode)
    see = _binary_change if binary else _colour_change
    change, fit = see(picture.pixels, picture.golden, picture.name, settings)
    regions = proposals.find(change, settings)
    rows = features.measure(change, regions, settings.scale)
    return Seen(regions.corners.astype(np.float64), rows, (width, height), settings.pad, fit)


def _binary_change(
    board: Pixels, golden: Pixels, name: str, settings: Settings
) -> tuple[Difference, Fit]:
    ours, theirs = (difference.levelled(difference.grey(each)) for each in (board, golden))
    fit, dark = registration.register(ours, theirs, settings.fit, name), settings.copper == "dark"
    laid = fit.lay(theirs, ours)
    return difference.compare(difference.copper(ours, dark), difference.copper(laid, dark)), fit


def _colour_change(
    board: Pixels, golden: Pixels, name: str, settings: Settings
) -> tuple[Difference, Fit]:
    ours, theirs = (difference.grey(each) for each in (board, golden))
    greys = [difference.stretched(each) for each in (ours, theirs)]
    fit = registration.register(greys[0], greys[1], settings.fit_colour, name)
    if board.ndim != golden.ndim:
        board, golden = ours, theirs
    return colour.compare(board, fit.lay(golden, board)), fit


def _binary(board: Pixels, golden: Pixels, mode: str) -> bool:
    """Whether both pictures show two greys and no colour, unless the mode says so already."""
    if mode != "auto":
        return mode == "binary"
    if board.ndim == 3 and difference.colourful(board):
        return False
    return all(difference.two_greys(difference.grey(each)) for each in (board, golden))
