"""How a refusal is told: to the pages as one sentence, to the public API as RFC 9457 has it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

API = "/api/v1"
MEDIA = "application/problem+json"


def is_public(path: str) -> bool:
    """Whether an address is of the public API, which knows tokens alone."""
    return path == API or path.startswith(f"{API}/")


def refusal(
    path: str,
    status: int,
    sentence: str,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> JSONResponse:
    """The answer that says why there is none."""
    if not is_public(path):
        return JSONResponse({"error": sentence, **more}, status, headers)
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": sentence, **more}
    return JSONResponse(body, status, headers, MEDIA)
