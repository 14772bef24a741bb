"""Browse: all images of a project in a grid, filtered and chosen."""

from __future__ import annotations

from app import shells

MODULE = "grid.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("browse", MODULE)
