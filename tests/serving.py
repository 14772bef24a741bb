"""Whether a served Loupe answers, for tests that start one and wait."""

from __future__ import annotations

from urllib.error import URLError
from urllib.request import urlopen


def answers(address: str) -> bool:
    """Whether there is a site at this address that says it is well."""
    try:
        with urlopen(f"{address}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
