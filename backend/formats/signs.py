"""How surely a source is in a format, so that one stray file never decides over a clear set."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Sign(IntEnum):
    """What speaks for a format; the strongest wins, and NONE is false."""

    NONE = 0
    FAINT = 1  # one file among others that are not of the format
    FAIR = 2  # most of the files looked at
    STRONG = 3  # a file that describes the set


def of_most(votes: Iterable[bool]) -> Sign:
    """Fair where more than half agree, faint where any does."""
    said = yes = 0
    for vote in votes:
        said += 1
        yes += vote
    if 2 * yes > said:
        return Sign.FAIR
    return Sign.FAINT if yes else Sign.NONE
