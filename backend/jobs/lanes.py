"""The lanes of a worker: what is quick never waits for what takes hours."""

from __future__ import annotations

from enum import StrEnum


class Lane(StrEnum):
    """A worker carries out one job of each lane at a time, so short work never waits for long.

    INSTANT is for what a person waits for: a resident process answers without starting anything,
    and its jobs take no number that people read.
    """

    LONG = "long"
    SHORT = "short"
    WATCH = "watch"
    INSTANT = "instant"
