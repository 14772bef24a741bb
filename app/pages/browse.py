"""Browse: all images of a project in a grid, filtered and chosen."""

from __future__ import annotations

from app import shells


def build() -> None:
    """Lay out the page."""
    shells.shell("browse", "grid.js")
