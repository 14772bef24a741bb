"""What a job's actors and reservations are called in Ray's own tools: whose, and what they do."""

from __future__ import annotations

import itertools
from typing import Any

_NUMBERS = itertools.count(1)


def named(ray: Any, what: str) -> str:
    """The name that the job has on its cluster, and what this is; no two may have the same."""
    return f"{ray.get_runtime_context().namespace}: {what}, {next(_NUMBERS)}"
