"""What boards add up to, as numbers in a row: how two of them differ, and how they are kept."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

BINS = 20
WIDE, HIGH = 16, 12  # cells over the place of a defect on its golden, or else on its board
CELLS = WIDE * HIGH
# Where what stands in such a row: of a lot its boards, of a class its defects.
PASSED, FAILED, ASKED, SAID, LABELLED = range(5)
DEFECTS, BOARDS, RIGHT, ESCAPES, FALSE_CALLS = range(5)
COUNTED = 5
SCORES = COUNTED  # from here on detections and boards by twentieths of the score
PLACES = SCORES + 2 * BINS  # and from here on defects and boards by cell
WIDTH = PLACES + 2 * CELLS
LOT, ALL = -2, 0  # in the place of a class: the boards of a lot, and all classes together
# The lot, the day, the class, what is of no class is called, and what else is said of the boards.
Key = tuple[str, str, int, str, str]
Row = Any  # an array of so many numbers
Sums = Mapping[Key, Row]
PAIR = np.dtype("<u4")


def nothing() -> Row:
    """The sum of no board."""
    return np.zeros(WIDTH, np.int64)


def change(before: Sums, after: Sums) -> dict[Key, Row]:
    """What is to be added to the one for the other; what is alike is left out."""
    found = {key: _of(after, key) - _of(before, key) for key in {**before, **after}}
    return {key: row for key, row in found.items() if row.any()}


def packed(row: Row, first: int = 0) -> bytes:
    """The numbers from `first` on that are not 0, each with its place."""
    at = np.flatnonzero(row[first:])
    return np.stack([at, row[first:][at]], 1).astype(PAIR).tobytes()


def unpacked(parts: Iterable[bytes], first: int = 0) -> Row:
    """The sum of rows that were packed."""
    pairs = np.frombuffer(b"".join(parts), PAIR).reshape(-1, 2)
    told = np.bincount(pairs[:, 0], pairs[:, 1], WIDTH - first).astype(np.int64)
    return np.concatenate([np.zeros(first, np.int64), told])


def pairs(row: Row, first: int, count: int) -> list[list[int]]:
    """The numbers that stand two by two from a place on."""
    found: list[list[int]] = row[first : first + 2 * count].reshape(-1, 2).tolist()
    return found


def written(sums: Sums) -> bytes:
    """All sums of a part, to be taken away again once they no longer stand."""
    told = [[*key, packed(row).hex()] for key, row in sorted(sums.items())]
    return zlib.compress(json.dumps(told).encode(), 1)


def read(content: bytes) -> dict[Key, Row]:
    """The sums of a part as they were written; of none where nothing was."""
    told = json.loads(zlib.decompress(content)) if content else []
    return {
        (lot, day, number, label, facet): unpacked([bytes.fromhex(row)])
        for lot, day, number, label, facet, row in told
    }


def _of(sums: Sums, key: Key) -> Row:
    found = sums.get(key)
    return nothing() if found is None else found
