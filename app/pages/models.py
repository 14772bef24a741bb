"""Models: the versions, their figures, which one is the champion."""

from __future__ import annotations

from app import shells

MODULE = "models.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("models", MODULE)
