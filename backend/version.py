"""Which code this is: the release, and the commit where it runs from a checkout."""

from __future__ import annotations

import subprocess
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent


def code() -> str:
    """Such as "1.0 (4b4827e)"; "-dirty" where files were changed since that commit."""
    release = metadata.version("loupe")
    if not (ROOT / ".git").exists():
        return release
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return release
    return f"{release} ({told.stdout.strip()})"
