"""Whom the processes of a test want to speak to elsewhere, whatever library it is that asks."""

from __future__ import annotations

import os
from pathlib import Path

# Libraries report nothing where they believe to be tested; here they are to behave as at work.
TOLD_BY = ("CI", "PYTEST_CURRENT_TEST", "PYTEST_VERSION")


def environment(asked: Path) -> dict[str, str]:
    """For processes that, with all their descendants in Python, write down whom they ask."""
    kept = {name: value for name, value in os.environ.items() if name not in TOLD_BY}
    before = kept.get("PYTHONPATH", "")
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent), before]))
    return {**kept, "PYTHONPATH": path, "LOUPE_OVERHEARD": str(asked)}


def heard(asked: Path) -> list[str]:
    """What was asked, a line each."""
    return asked.read_text().splitlines() if asked.exists() else []
