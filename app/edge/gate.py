"""The gate: every request passes it, pages and Gradio's own alike; pure ASGI, so nothing waits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.edge import bearers, login, policy, problems
from app.routes.runs import detection
from backend.domain import Person

OPEN = (
    *("/login", "/assets/", "/favicon.ico", "/manifest.json", "/health"),
    "/api/v1/openapi.json",
)
TOKEN = "token"
SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MEGA = 1_000_000
LARGEST_LOGIN = 32_000
LARGEST_BODY = 8 * MEGA
# A picture that is tried comes in a form, which is a little larger.
LARGEST_TRY = detection.TRY_BYTES + MEGA
TRY = re.compile(r"POST /api/(projects/[^/]+/detect/try|v1/projects/[^/]+/detect-file)")
UPLOAD = re.compile(
    r"PUT /api/projects/[^/]+/uploads/[0-9a-f]{32}/.+|POST /api/v1/projects/[^/]+/import"
)
HEADERS = {
    policy.HEADER: policy.OURS,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Gate:
    """Lets a request in with its person, or answers it."""

    def __init__(self, app: ASGIApp, door: login.Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        person, refusal = await self._asked(scope, headers)
        if refusal is not None and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4401})
        elif refusal is not None:
            await refusal(scope, receive, _with_headers(send))
        else:
            scope.setdefault("state", {})["person"] = person
            await self._app(scope, _bounded(scope, receive), _with_headers(send))

    async def _asked(self, scope: Scope, headers: Headers) -> tuple[Person | None, Response | None]:
        """Who asks: the public API knows tokens alone, all else cookies alone."""
        if not problems.is_public(scope["path"]):
            person = await self._door.who(_cookie(headers))
            return person, self._refusal(scope, headers, person)
        try:
            bearer = await self._door.bearers.who(headers, (scope.get("client") or ("",))[0])
        except bearers.TooMany as error:
            wait = {"retry-after": str(error.seconds)}
            return None, problems.refusal(scope["path"], 429, str(error), wait)
        return bearer, self._refusal(scope, headers, bearer)

    def _refusal(self, scope: Scope, headers: Headers, person: Person | None) -> Response | None:
        if not self._door.accounts and _host(headers.get("host", "")) not in LOOPBACK:
            told = "Without accounts Loupe answers only to this machine's own names."
            return problems.refusal(scope["path"], 403, told)
        public = problems.is_public(scope["path"])
        if self._door.token and not public and (shown := _token(scope)):
            return self._exchanged(scope, shown)
        if person is None and not scope["path"].startswith(OPEN):
            return _show_a_token(scope["path"]) if public else _log_in(scope, headers)
        if scope.get("method", "GET") in SAFE:
            return None
        return _refused_write(scope["path"], headers, _largest(scope))

    def _exchanged(self, scope: Scope, token: str) -> Response:
        """The token of this start for a cookie; it goes from the address and so from history."""
        answer = RedirectResponse(_address(scope, without=TOKEN), 303)
        if cookie := self._door.show(token):
            login.give_cookie(answer, cookie, scope["scheme"], None)
        return answer


def _refused_write(path: str, headers: Headers, largest: float) -> Response | None:
    origin = headers.get("origin")
    if origin and urlsplit(origin).netloc != headers.get("host"):
        return problems.refusal(path, 403, "This request comes from another site.")
    # No other site can send a token, so what shows one needs no sign besides.
    ours = path.startswith("/api/") and not problems.is_public(path)
    if ours and headers.get("x-loupe") is None:
        return problems.refusal(path, 403, "This request lacks the header X-Loupe.")
    if path.startswith("/gradio_api/upload"):
        told = "Pictures are uploaded by Import, on the page Projects."
        return problems.refusal(path, 403, told)
    if _length(headers) > largest:
        return problems.refusal(path, 413, _too_large(largest))
    return None


def _largest(scope: Scope) -> float:
    """How many bytes a request may have; uploads count for themselves, by what settings allow."""
    if scope["path"].startswith(("/login", "/logout")):
        return LARGEST_LOGIN
    # As it was sent: a slash in a project's name is no slash there.
    sent = f"{scope.get('method', 'GET')} {scope.get('raw_path', b'').decode('latin-1')}"
    if UPLOAD.fullmatch(sent):
        return math.inf
    return LARGEST_TRY if TRY.fullmatch(sent) else LARGEST_BODY


def _too_large(largest: float) -> str:
    size = f"{largest / MEGA:g} MB" if largest >= MEGA else f"{largest / 1000:g} kB"
    return f"The request is larger than {size}; large pictures come in by Import."


def _length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isdecimal() else 0


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """Count what arrives, for a body that does not say how long it is."""
    if scope["type"] != "http":
        return receive
    arrived, largest = 0, _largest(scope)

    async def receiving() -> Message:
        nonlocal arrived
        message = await receive()
        arrived += len(message.get("body", b""))
        if arrived > largest:
            # The one kind of error that FastAPI lets through while it reads a body.
            raise HTTPException(413, _too_large(largest))
        return message

    return receiving


def _log_in(scope: Scope, headers: Headers) -> Response:
    wants_page = scope.get("method") == "GET" and "text/html" in headers.get("accept", "")
    if not wants_page:
        return problems.refusal(scope["path"], 401, "Log in first.")
    return RedirectResponse(f"/login?next={quote(_address(scope), safe='')}", 303)


def _address(scope: Scope, without: str = "") -> str:
    """What was asked for, as it was written; without one part of the query."""
    path = scope.get("raw_path", b"").decode("latin-1") or quote(scope["path"])
    parts = scope.get("query_string", b"").decode("latin-1").split("&")
    kept = "&".join(part for part in parts if not (without and part.startswith(f"{without}=")))
    # Two slashes at the beginning would lead to another site.
    return "/" + path.lstrip("/") + (f"?{kept}" if kept else "")


def _token(scope: Scope) -> str:
    """The token that an address shows."""
    if scope.get("method") != "GET":
        return ""
    parts = scope.get("query_string", b"").decode("latin-1").split("&")
    return next((part[len(TOKEN) + 1 :] for part in parts if part.startswith(f"{TOKEN}=")), "")


def _show_a_token(path: str) -> Response:
    told = "Send a token that has not ended: Authorization: Bearer TOKEN. See the guide's page API."
    return problems.refusal(path, 401, told, {"www-authenticate": "Bearer"})


def _cookie(headers: Mapping[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(login.COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _host(header: str) -> str:
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                answer.setdefault(name, value)
        await send(message)

    return sending
