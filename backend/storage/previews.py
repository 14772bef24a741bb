"""Thumbnails, previews and tiles: made once, by processes beside this one, kept within a bound."""

from __future__ import annotations

import logging
import multiprocessing
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from PIL import UnidentifiedImageError

from backend.errors import Invalid, NotFound, Unavailable
from backend.storage import rendering
from backend.storage.files import Files

log = logging.getLogger(__name__)

THUMB = 320
PREVIEW = 2048
TILE = 512
LEVELS = 8
PATIENCE = 120
AN_HOUR = 3600


class Previews:
    """The smaller pictures of every file. Two people who ask at once wait for one decode."""

    def __init__(self, files: Files, folder: Path, bound: float, processes: int = 2) -> None:
        self._files = files
        self._folder = folder
        self._bound = bound
        self._processes = processes
        self._lock = threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._coming: dict[Path, Future[int]] = {}
        self._held: float | None = None

    def thumb(self, name: str) -> Path:
        """A picture of at most 320 pixels a side; that of a board is made from its preview."""
        known = (self._place(name) / "thumb.jpg").exists()
        source = None if known else self.preview(name)
        return self._made(name, "thumb.jpg", rendering.write_small, THUMB, of=source)

    def preview(self, name: str) -> Path:
        """A picture of at most 2,048 pixels a side; a small one is its own preview."""
        source = self._files.local_path(name)
        kind, width, height = _glance(source)
        if kind in rendering.SHOWN and max(width, height) <= PREVIEW:
            return source
        return self._made(name, "preview.jpg", rendering.write_small, PREVIEW)

    def full(self, name: str) -> Path:
        """The whole picture in a form that every browser shows."""
        source = self._files.local_path(name)
        if _glance(source)[0] in rendering.SHOWN:
            return source
        return self._made(name, "full.png", rendering.write_whole)

    def tile(self, name: str, level: int, x: int, y: int) -> Path:
        """A square of 512 pixels of the picture halved `level` times; level 0 is the whole."""
        if not 0 <= level <= LEVELS:
            raise NotFound(f"A picture has the levels 0 to {LEVELS}, not {level}.")
        tiles = self._made(name, f"tiles-{level}", rendering.write_tiles, TILE, level)
        found = tiles / f"{x}-{y}.jpg"
        if not found.is_file():
            raise NotFound(f"The picture has no tile {x}, {y} at level {level}.")
        return found

    def media_type(self, path: Path) -> str:
        """What to tell the browser of a file that one of the above gave."""
        if path.suffix == ".jpg":
            return "image/jpeg"
        return rendering.SHOWN[_glance(path)[0]]

    def warm(self) -> None:
        """Start a process ahead of the first picture."""
        with self._lock:
            self._open_pool().submit(rendering.ready)

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool:
            pool.shutdown(wait=False, cancel_futures=True)

    def _place(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _made(
        self, name: str, file: str, make: Callable[..., int], *how: Any, of: Path | None = None
    ) -> Path:
        place = self._place(name)
        target = place / file
        if target.exists():
            _touch(place)
            return target
        source = of or self._files.local_path(name)
        work, mine = self._begin(target, make, source, how)
        try:
            size = work.result(PATIENCE)
        except BrokenProcessPool as error:
            self.close()
            raise Unavailable("The picture was too much for this machine's memory.") from error
        except (OSError, ValueError, SyntaxError) as error:
            raise Invalid(f"The picture {name[:12]}… cannot be read: {error}.") from error
        finally:
            self._coming.pop(target, None)
        if mine:
            self._make_room(size)
        return target

    def _begin(
        self, target: Path, make: Callable[..., int], source: Path, how: tuple[Any, ...]
    ) -> tuple[Future[int], bool]:
        with self._lock:
            running = self._coming.get(target)
            if running:
                return running, False
            begun = self._open_pool().submit(make, source, target, *how)
            self._coming[target] = begun
            return begun, True

    def _open_pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes, multiprocessing.get_context("spawn"), rendering.serve_parent
            )
        return self._pool

    def _make_room(self, size: int) -> None:
        with self._lock:
            if self._held is None:
                self._held = _size(self._folder)
            else:
                self._held += size
            if self._held <= self._bound:
                return
            self._held -= _drop_oldest(self._folder, self._held - 0.8 * self._bound)


def _glance(path: Path) -> tuple[str, int, int]:
    try:
        return rendering.glance(path)
    except (UnidentifiedImageError, OSError) as error:
        raise Invalid(f"The file {path.name[:12]}… is not a picture.") from error


def _touch(place: Path) -> None:
    """Note that these were looked at; once an hour is enough."""
    try:
        if time.time() - place.stat().st_mtime > AN_HOUR:
            place.touch()
    except FileNotFoundError:
        log.debug("%s was just dropped", place)


def _size(folder: Path) -> float:
    return float(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


def _drop_oldest(folder: Path, surplus: float) -> float:
    """Remove pictures that were not looked at for longest, until `surplus` bytes are gone."""
    gone = 0.0
    places = sorted(folder.glob("*/*"), key=lambda place: place.stat().st_mtime)
    for place in places:
        if gone >= surplus:
            break
        gone += _size(place)
        shutil.rmtree(place, ignore_errors=True)
    log.info("Dropped %.0f MB of previews that were not looked at for longest.", gone / 1e6)
    return gone
