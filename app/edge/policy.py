"""What a page may load and run: nothing from outside, no script that stands in it, no eval.

Gradio's page, the one at /, is the exception, as far as it must be. Its template holds inline
scripts: each gets a nonce of its answer (what they hold of ours is JSON without any `<`, so that
nobody's name ends one). It styles by <style> elements and attributes that it makes as it goes, so
inline styles stay allowed there. Its HTML component alone would need eval, so we lay out our pages
without it (app/shells.py).
"""

from __future__ import annotations

import secrets

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STRICT = (
    "default-src 'self'; script-src 'self'{nonce}; style-src 'self'{inline}; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'none'"
)
OURS = STRICT.format(nonce="", inline="")
HEADER = "content-security-policy"
SCRIPT = b"<script"


class Policy:
    """Gives Gradio's page its nonce and its policy; all other answers get ours at the gate."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/":
            await self._app(scope, receive, send)
            return
        # A page that comes compressed could not be read here.
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        page = _Page(send)
        await self._app({**scope, "headers": headers}, receive, page.hear)


class _Page:
    """One answer on its way: held back until it is whole, as its length changes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def hear(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._body += message.get("body", b"")
        if message.get("more_body") or self._start is None:
            return
        nonce = secrets.token_urlsafe(16)
        body = self._body.replace(SCRIPT, b'%s nonce="%s"' % (SCRIPT, nonce.encode()))
        headers = MutableHeaders(scope=self._start)
        headers[HEADER] = STRICT.format(nonce=f" 'nonce-{nonce}'", inline=" 'unsafe-inline'")
        if "content-length" in headers and self._body:
            headers["content-length"] = str(len(body))
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body})
