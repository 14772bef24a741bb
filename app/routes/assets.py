"""The JavaScript, the styles, and the few files that browsers ask for at the root."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import FileResponse, JSONResponse, Response

from app import assets
from app.edge import pools
from backend.errors import NotFound

router = APIRouter(route_class=pools.Pooled)


@router.get("/assets/{version}/{name:path}")
async def asset(version: str, name: str) -> Response:
    """A file of assets/; kept for ever under the address that names its content."""
    path = assets.find(name)
    if path is None:
        raise NotFound("There is no such file.")
    current = version == assets.content_hash()
    headers = {"cache-control": "public, max-age=31536000, immutable" if current else "no-cache"}
    # From memory and without a thread: a first load asks for some thirty of them at once.
    return Response(assets.content(path), media_type=assets.KINDS[path.suffix], headers=headers)


@router.get("/favicon.ico", include_in_schema=False)
def favicon() -> Response:
    """The sign of Loupe."""
    return FileResponse(assets.FOLDER / "loupe.svg", media_type="image/svg+xml")


@router.get("/manifest.json", include_in_schema=False)
def manifest() -> Response:
    """What a browser wants to know to put the site on a home screen."""
    icon = {"src": "/favicon.ico", "type": "image/svg+xml", "sizes": "any"}
    body = {"name": "Loupe", "short_name": "Loupe", "start_url": "/", "display": "standalone"}
    return JSONResponse({**body, "icons": [icon]}, media_type="application/manifest+json")
