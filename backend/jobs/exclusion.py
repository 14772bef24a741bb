"""What no two jobs may share, read off their requests."""

from __future__ import annotations

import hashlib

from backend.jobs.kinds import Request, encode


def key(rule: str, request: Request) -> str | None:
    """A lock of the request by a rule of its kind; a long one is named by its digest."""
    text = rule.format_map(encode(request))
    if len(text) > 100:
        text = text[:60] + hashlib.sha256(text.encode()).hexdigest()[:32]
    return text or None
