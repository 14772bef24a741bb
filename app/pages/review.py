"""Review: go through what a run found, in the order of doubt."""

from __future__ import annotations

from app import shells

MODULE = "review.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("review", MODULE)
