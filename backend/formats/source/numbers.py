"""Reads numbers out of label files; a wrong one says what stands there instead."""

from __future__ import annotations

from collections.abc import Sequence

from backend.errors import Invalid


def floats(words: Sequence[str]) -> list[float]:
    """The words as numbers."""
    return [_float(word) for word in words]


def index(word: str) -> int:
    """A class number, which some tools write as `3.0`."""
    value = _float(word)
    if value != value or value in (float("inf"), float("-inf")) or value != int(value):
        raise Invalid(f"{word[:40]!r} is no class number.")
    return int(value)


def _float(word: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise Invalid(f"{word[:40]!r} is no number.") from error
