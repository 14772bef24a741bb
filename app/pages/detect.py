"""Detect: run a model over images, and try one picture."""

from __future__ import annotations

from app import shells

MODULE = "detect.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("detect", MODULE)
