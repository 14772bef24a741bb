"""Annotate: draw and correct boxes, image by image."""

from __future__ import annotations

from app import shells

MODULE = "annotate.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("annotate", MODULE)
