"""A slash in a project's name: an address has it as %2F, which must not end a part of it."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

PROJECTS = ("/api/projects/", "/api/v1/projects/")
# No name holds it, as it cannot be printed.
STAND_IN = "\x1f"


class Slashes:
    """Lets another sign stand for the slashes of a project's name while routes are looked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PROJECTS):
            prefix = next(one for one in PROJECTS if scope["path"].startswith(one))
            scope = {**scope, "path": _path(scope, prefix)}
        await self._app(scope, receive, send)


def name(part: str) -> str:
    """The name of a project as a part of an address has it."""
    return part.replace(STAND_IN, "/")


def _path(scope: Scope, prefix: str) -> str:
    path = str(scope["path"])
    quoted = scope.get("raw_path", b"").decode("latin-1").removeprefix(prefix).partition("/")[0]
    project = unquote(quoted)
    if "/" not in project or not path.startswith(prefix + project):
        return path
    return prefix + project.replace("/", STAND_IN) + path[len(prefix + project) :]
