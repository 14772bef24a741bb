"""From a picture and its golden to measured proposals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.errors import Refused
from workers.models.base import Picture
from workers.models.golden import difference, features, proposals, registration
from workers.models.golden.features import Rows
from workers.models.golden.registration import Fit
from workers.models.golden.settings import Settings


@dataclass(frozen=True, slots=True)
class Seen:
    """The proposals of one picture: bare corners in its own frame, and features."""

    corners: NDArray[np.float64]
    rows: Rows
    size: tuple[int, int]
    fit: Fit


def look(picture: Picture, settings: Settings) -> Seen:
    """What differs from the golden; refused where there is none or it does not fit."""
    if picture.golden is None:
        raise Refused(f"{picture.name or 'The picture'} has no golden to be compared with.")
    board, golden = (
        difference.levelled(difference.grey(each)) for each in (picture.pixels, picture.golden)
    )
    fit = registration.register(board, golden, settings.fit, picture.name)
    dark = settings.copper == "dark"
    change = difference.compare(difference.copper(board, dark), difference.copper(fit.laid, dark))
    regions = proposals.find(change, settings)
    rows = features.measure(change, regions)
    return Seen(regions.corners.astype(np.float64), rows, board.shape[::-1], fit)
