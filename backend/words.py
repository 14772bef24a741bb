"""Numbers in sentences."""

from __future__ import annotations


def many(number: int, one: str, more: str = "") -> str:
    """1 image, 2 images; `more` where an s is not enough."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
