"""Names in the page's own answer what its tab needs, fetched beside Gradio's files."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import assets, site


class Preloading:
    """Adds a Link header to the one page of the site."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                tab = _tab(scope["query_string"].decode("latin-1"))
                MutableHeaders(scope=message).append("link", links(tab))
            await send(message)

        await self._app(scope, receive, sending)


def links(tab: str) -> str:
    """The value of the header."""
    return ", ".join(f"<{assets.url(file)}>; {_how(file)}" for file in site.needs(tab))


def _how(file: str) -> str:
    return "rel=preload; as=style" if file.endswith(".css") else "rel=modulepreload"


def _tab(query: str) -> str:
    """The tab that the address opens, as assets/common/site.js has it."""
    given = parse_qs(query)
    return given["tab"][-1] if "tab" in given else "overview" if "project" in given else "projects"
