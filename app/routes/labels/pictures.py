"""The pictures themselves: addresses name the content, so a browser keeps them for ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from app import premises
from app.edge import login, pools
from backend.errors import NotFound

router = APIRouter(dependencies=[login.SEES], route_class=pools.Pooled)

SMALL = 1 << 18
FOR_EVER = "private, max-age=31536000, immutable"


@router.get("/files/{file}/thumb")
@pools.picture
def thumb(file: str, request: Request, at: premises.At) -> Response:
    """At most 320 pixels a side."""
    return _answer(request, at, f"{file}-thumb", lambda: at.previews.thumb(file))


@router.get("/files/{file}/preview")
@pools.picture
def preview(file: str, request: Request, at: premises.At) -> Response:
    """At most 2,048 pixels a side."""
    return _answer(request, at, f"{file}-preview", lambda: at.previews.preview(file))


@router.get("/files/{file}/full")
@pools.picture
def full(file: str, request: Request, at: premises.At) -> Response:
    """The picture as it came."""
    return _answer(request, at, f"{file}-full", lambda: at.previews.full(file))


@router.get("/files/{file}/tile/{level}/{x}/{y}")
@pools.picture
def tile(file: str, level: int, x: int, y: int, request: Request, at: premises.At) -> Response:
    """A square of 512 pixels of the picture halved `level` times."""
    tag = f"{file}-{level}-{x}-{y}"
    return _answer(request, at, tag, lambda: at.previews.tile(file, level, x, y))


def _answer(
    request: Request, at: premises.Premises, tag: str, find: Callable[[], Path]
) -> Response:
    headers = {"cache-control": FOR_EVER, "etag": f'"{tag}"'}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    path = find()
    kind = at.previews.media_type(path)
    try:
        if path.stat().st_size > SMALL:
            return FileResponse(path, headers=headers, media_type=kind)
        return Response(path.read_bytes(), headers=headers, media_type=kind)
    except FileNotFoundError as error:
        raise NotFound("The picture was just dropped from the cache; ask again.") from error
