"""Whether a classifier is as often right as it is sure: reliability, and how far off it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 15


def report(sure: NDArray[np.floating], right: NDArray[np.bool_]) -> dict[str, Any]:
    """`ece`: how far confidence and accuracy lie apart, on average over the pictures; `reliability`
    has the two for each of 15 equally wide parts that some picture is in."""
    if not len(sure):
        return {"ece": None, "reliability": []}
    confidence = np.asarray(sure, np.float64)
    # A part has its upper end in it, so that who is wholly sure is in the last one.
    place = (np.ceil(confidence * BINS).astype(int) - 1).clip(0, BINS - 1)
    there = sorted(set(place.tolist()))
    told = [_part(index, confidence[place == index], right[place == index]) for index in there]
    off = sum(row["images"] * abs(row["confidence"] - row["accuracy"]) for row in told)
    return {"ece": off / len(confidence), "reliability": told}


def _part(index: int, sure: NDArray[np.float64], right: NDArray[np.bool_]) -> dict[str, Any]:
    return {
        "begin": index / BINS,
        "images": len(sure),
        "confidence": float(sure.mean()),
        "accuracy": float(right.mean()),
    }
