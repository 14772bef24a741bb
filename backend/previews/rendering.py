"""Smaller pictures out of large ones; runs in a process of its own, so it imports little."""

from __future__ import annotations

import math
import multiprocessing
import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from backend import safe_pictures, shrinking

SHOWN = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "BMP": "image/bmp"}
DRAFT = {"L": "L", "RGB": "RGB"}
QUALITY = 88


def glance(path: Path) -> tuple[str, int, int]:
    """The format, width and height, from the header alone."""
    found = safe_pictures.header(str(path), _named(path))
    return found.format, found.width, found.height


def write_small(source: Path, target: Path, side: int) -> int:
    """Write a JPEG of at most `side` pixels a side; the bytes written."""
    with safe_pictures.opened(str(source), _named(source)) as (image, _):
        # JPEG can be decoded at a fraction of its size, which is most of the time of a board.
        image.draft(DRAFT.get(image.mode, "RGB"), (side, side))
        small = shrinking.shrunk(image, side)
    return write(small, target)


def write(small: Image.Image, target: Path) -> int:
    """Write a small picture as JPEG; the bytes written."""
    with _part(target) as part:
        small.save(part, "JPEG", quality=QUALITY)
    return target.stat().st_size


def write_piece(
    source: Path, target: Path, piece: tuple[float, float, float, float], side: int
) -> int:
    """Write a piece of the picture, its corners as shares of width and height, as JPEG."""
    with safe_pictures.opened(str(source), _named(source)) as (image, _):
        whole = shrinking.plain(image)
    x1, y1, x2, y2 = piece
    left, top = math.floor(x1 * whole.width), math.floor(y1 * whole.height)
    right, bottom = math.ceil(x2 * whole.width), math.ceil(y2 * whole.height)
    cut = whole.crop((left, top, max(left + 1, right), max(top + 1, bottom)))
    return write(shrinking.shrunk(cut, side), target)


def write_whole(source: Path, target: Path) -> int:
    """Write the picture as PNG, for formats that a browser does not show."""
    with safe_pictures.opened(str(source), _named(source)) as (image, _):
        whole = shrinking.plain(image)
    with _part(target) as part:
        whole.save(part, "PNG", compress_level=1)
    return target.stat().st_size


def write_tiles(source: Path, target: Path, side: int, levels: int) -> int:
    """Write every square of the picture halved 0 to `levels` - 1 times, the fewest first.

    One decode serves them all. `target`, which is empty, stands beside them when all are there.
    """
    with safe_pictures.opened(str(source), _named(source)) as (image, _):
        whole = shrinking.plain(image)
    squares = [
        square
        for level in reversed(range(levels))
        for square in _write_level(whole.reduce(1 << level), target.parent, side, level)
    ]
    target.touch()
    return sum(square.stat().st_size for square in squares)


def tile(folder: Path, level: int, x: int, y: int) -> Path:
    """Where a square lies among the tiles of its picture."""
    return folder / f"{level}-{x}-{y}.jpg"


def serve_parent() -> None:
    """Let the web process go first, and end when it has ended, however that was."""
    os.nice(5)
    threading.Thread(target=_follow_parent, daemon=True).start()


def ready() -> int:
    """Nothing: what starts the process ahead of the first picture."""
    return 0


def _named(path: Path) -> str:
    return f"The picture {path.name[:12]}…"


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _write_level(whole: Image.Image, folder: Path, side: int, level: int) -> Iterator[Path]:
    for x in range(0, whole.width, side):
        for y in range(0, whole.height, side):
            box = (x, y, min(x + side, whole.width), min(y + side, whole.height))
            square = tile(folder, level, x // side, y // side)
            with _part(square) as part:
                whole.crop(box).save(part, "JPEG", quality=QUALITY)
            yield square


@contextmanager
def _part(target: Path) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    yield part
    part.replace(target)
