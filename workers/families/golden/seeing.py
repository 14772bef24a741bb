"""From a picture and its golden to measured proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from workers.families.base import Lie, Picture, Pixels
from workers.families.golden import candidates, colour, difference, features, gloss
from workers.families.golden.candidates import Regions
from workers.families.golden.difference import Difference
from workers.families.golden.features import Rows
from workers.families.golden.fit import registration
from workers.families.golden.fit.laying import Matrix, Registration
from workers.families.golden.gloss import GlossKeeper, Map
from workers.families.golden.options import GoldenOptions


@dataclass(frozen=True, slots=True)
class Seen:
    """The proposals of one picture: bare corners in its own frame, and features."""

    corners: NDArray[np.float64]
    rows: Rows
    size: tuple[int, int]
    pad: int  # how far a box usually stands off its defect on pictures of this sort
    fit: Registration
    toward: NDArray[np.float64] | None = None  # from the usual boxes to those of a detector

    @property
    def lie(self) -> Lie:
        """How the golden lies on the picture, as a whole."""
        return tuple(round(float(each), 6) for each in self.fit.whole(*self.size).ravel())

    @property
    def boxes(self) -> NDArray[np.float64]:
        """The usual boxes."""
        return self.corners + np.array([-self.pad, -self.pad, self.pad, self.pad], np.float64)

    @property
    def pulls(self) -> NDArray[np.float64]:
        """From the usual boxes to those of a detector, as far as that is sure of them."""
        return np.zeros((len(self.rows), 4)) if self.toward is None else self.toward


def look(picture: Picture, settings: GoldenOptions, glosses: Sequence[Map] = ()) -> Seen:
    """What differs from the golden; refused where there is none or it does not fit."""
    if picture.golden is None:
        raise Refused(f"{picture.name or 'The picture'} has no golden to be compared with.")
    height, width = picture.pixels.shape[:2]
    settings = settings.scaled(max(height, width))
    if binary(picture, settings.mode):
        change, fit = _binary_change(picture.pixels, picture.golden, picture.name, settings)
    else:
        change, fit = _colour_change(picture, picture.golden, settings, glosses)
    regions = candidates.find(change, settings)
    rows = features.measure(change, regions, settings.scale)
    features.end_at(rows, _within(regions, fit.whole(width, height), width, height))
    return Seen(_tight(regions, settings), rows, (width, height), settings.pad, fit)


def _within(regions: Regions, lie: Matrix, width: int, height: int) -> NDArray[np.float64]:
    """How far each proposal lies within what the golden shows."""
    x1, y1, x2, y2 = regions.corners.T
    points = np.array([[x1, x2, x1, x2], [y1, y1, y2, y2]]).reshape(2, -1)
    x, y = lie[:, :2] @ points + lie[:, 2:]
    gaps = np.minimum(np.minimum(x, width - x), np.minimum(y, height - y))
    return np.asarray(gaps.reshape(4, -1).min(axis=0))


def _tight(regions: Regions, settings: GoldenOptions) -> NDArray[np.float64]:
    """Around the core and a little more, as edges to both sides may differ without being part."""
    beyond = settings.beyond * np.array([-1, -1, 1, 1])
    low, high = np.split(regions.inner + beyond, 2, axis=1)
    outer_low, outer_high = np.split(regions.corners, 2, axis=1)
    return np.hstack([np.maximum(low, outer_low), np.minimum(high, outer_high)]).astype(np.float64)


def _binary_change(
    board: Pixels, golden: Pixels, name: str, settings: GoldenOptions
) -> tuple[Difference, Registration]:
    ours, theirs = (difference.levelled(difference.grey(each)) for each in (board, golden))
    fit, dark = registration.register(ours, theirs, settings.fit, name), settings.copper == "dark"
    laid = fit.lay(theirs, ours)
    return difference.compare(difference.copper(ours, dark), difference.copper(laid, dark)), fit


def watch(
    seen: Seen,
    picture: Picture,
    settings: GoldenOptions,
    labelled: NDArray[np.float64],
    watching: GlossKeeper,
) -> None:
    """Learn from a labelled photograph where good boards of its lot stand out."""
    if picture.golden is None or binary(picture, settings.mode):
        return
    board, golden = alike(picture.pixels, picture.golden)
    away = colour.standing_out(board, *seen.fit.laid(golden, board))
    watching.see(picture.golden, away, seen.fit.whole(*seen.size), labelled)


def _colour_change(
    picture: Picture, golden: Pixels, settings: GoldenOptions, glosses: Sequence[Map]
) -> tuple[Difference, Registration]:
    ours, theirs = (
        difference.stretched(difference.grey(each)) for each in (picture.pixels, golden)
    )
    fit = registration.register(ours, theirs, settings.fit_colour, picture.name, photograph=True)
    board, clean = alike(picture.pixels, golden)
    allowed = gloss.of(glosses, golden)
    if allowed is not None:
        allowed = fit.lay(allowed, np.zeros(board.shape[:2], np.uint8))
    laid, shown = fit.laid(clean, board)
    return colour.compare(board, laid, allowed, shown), fit


def alike(board: Pixels, golden: Pixels) -> tuple[Pixels, Pixels]:
    """Both in colour, or both grey."""
    if board.ndim == golden.ndim:
        return board, golden
    return difference.grey(board), difference.grey(golden)


def binary(picture: Picture, mode: str) -> bool:
    """Whether board and golden show two greys and no colour, unless the mode says so already."""
    if mode != "auto" or picture.golden is None:
        return mode == "binary"
    if picture.pixels.ndim == 3 and difference.colourful(picture.pixels):
        return False
    both = (picture.pixels, picture.golden)
    return all(difference.two_greys(difference.grey(each)) for each in both)
