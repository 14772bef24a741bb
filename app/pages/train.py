"""Train: choose a family and a start, retrain, watch the curves."""

from __future__ import annotations

from app import shells

MODULE = "train.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("train", MODULE)
