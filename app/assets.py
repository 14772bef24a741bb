"""The JavaScript and the styles: where they lie, and the address that names their content."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "assets"
KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}

IMPORTS = re.compile(r'^(?:import|export)\b[^;"\']*["\'](\.[^"\']+)["\'];$', re.MULTILINE)


@cache
def content_hash() -> str:
    """One hash over all files, so that modules that import each other change together."""
    digest = hashlib.sha256()
    for path in sorted(path for path in FOLDER.rglob("*") if path.suffix in KINDS):
        digest.update(path.relative_to(FOLDER).as_posix().encode())
        digest.update(content(path))
    return digest.hexdigest()[:16]


@cache
def graph(name: str) -> tuple[str, ...]:
    """A module and all that it imports, however deep: what a browser can fetch at once."""
    found = [name]
    for module in found:
        path = FOLDER / module
        for wanted in IMPORTS.findall(path.read_text("utf-8")):
            there = (path.parent / wanted).resolve().relative_to(FOLDER).as_posix()
            if there not in found:
                found.append(there)
    return tuple(found)


def url(name: str) -> str:
    """The address of a file of assets/, which may be kept for ever."""
    return f"/assets/{content_hash()}/{name}"


@cache
def content(path: Path) -> bytes:
    """The bytes of a file, read once."""
    return path.read_bytes()


def find(name: str) -> Path | None:
    """The file of that name, if it is one of ours."""
    try:
        path = (FOLDER / name).resolve()
        ours = path.is_relative_to(FOLDER) and path.suffix in KINDS and path.is_file()
    except (OSError, ValueError):
        # A name that no file can have.
        return None
    return path if ours else None
