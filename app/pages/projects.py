"""Projects: what there is, how far it is, new ones, import and export."""

from __future__ import annotations

from app import shells

MODULE = "projects.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("projects", MODULE)
