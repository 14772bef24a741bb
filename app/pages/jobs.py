"""Jobs: what runs, waits and is done, and the cluster that does it."""

from __future__ import annotations

from app import shells

MODULE = "jobs.js"


def build() -> None:
    """Lay out the page."""
    shells.shell("jobs", MODULE)
