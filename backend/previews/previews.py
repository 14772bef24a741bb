"""Thumbnails, previews and tiles: made once, by processes beside this one, kept within a bound."""

from __future__ import annotations

import logging
import math
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from backend import apart
from backend.errors import LoupeError, NotFound, Unavailable
from backend.previews import rendering
from backend.settings import Settings
from backend.storage.files import Files

log = logging.getLogger(__name__)

THUMB = 320
PREVIEW = 2048
PREVIEW_FILE = "preview.jpg"
TILE = 512
TILES = "tiles"
SHARES = 1 << 20  # corners that differ by less are one and the same piece
PATIENCE = 120
MOST_WISHES = 400
AN_HOUR = 3600
GIGA = 1e9
GLANCE = 0.02
RECOUNT = 600


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
        self._wished: deque[str] = deque(maxlen=MOST_WISHES)
        self._making = False
        self._closed = False
        self._held = 0.0
        self._counted = -math.inf
        self.begun = 0

    def thumb(self, name: str) -> Path:
        """A picture of at most 320 pixels a side; that of a board is made from its preview."""
        known = (self._place(name) / "thumb.jpg").exists()
        source = None if known else self.preview(name)
        return self._made(name, "thumb.jpg", rendering.write_small, THUMB, of=source)

    def preview(self, name: str) -> Path:
        """A picture of at most 2,048 pixels a side; a small one is its own preview."""
        source = self._files.local_path(name)
        kind, width, height = rendering.glance(source)
        if kind in rendering.SHOWN and max(width, height) <= PREVIEW:
            return source
        return self._made(name, PREVIEW_FILE, rendering.write_small, PREVIEW)

    def full(self, name: str) -> Path:
        """The whole picture in a form that every browser shows."""
        source = self._files.local_path(name)
        if rendering.glance(source)[0] in rendering.SHOWN:
            return source
        return self._made(name, "full.png", rendering.write_whole)

    def piece(self, name: str, corners: tuple[float, float, float, float], side: int) -> Path:
        """A piece of at most `side` pixels a side; its corners are shares of width and height."""
        file = "-".join(f"{round(one * SHARES):x}" for one in corners)
        return self._made(name, f"piece-{file}-{side}.jpg", rendering.write_piece, corners, side)

    def tile(self, name: str, level: int, x: int, y: int) -> Path:
        """A square of 512 pixels of the picture halved `level` times; level 0 is the whole."""
        found = rendering.tile(self._place(name) / TILES, level, x, y)
        if not found.is_file():
            _, width, height = rendering.glance(self._files.local_path(name))
            levels = max(1, math.ceil(math.log2(max(width, height) / PREVIEW)))
            everything = f"{TILES}/complete"
            self._made(name, everything, rendering.write_tiles, TILE, levels, until=found)
        if not found.is_file():
            raise NotFound(f"The picture has no tile {x}, {y} at level {level}.")
        return found

    def ahead(self, names: Iterable[str]) -> None:
        """Make the thumbnails and previews of these while nobody waits, the newest wish first."""
        new = [name for name in names if not (self._place(name) / "thumb.jpg").exists()]
        with self._lock:
            self._wished.extendleft(reversed(new))
            idle = self._wished and not self._making
            self._making = self._making or bool(idle)
        if idle:
            threading.Thread(target=self._make_wished, daemon=True).start()

    def media_type(self, path: Path) -> str:
        """What to tell the browser of a file that one of the above gave."""
        if path.suffix == ".jpg":
            return "image/jpeg"
        return rendering.SHOWN[rendering.glance(path)[0]]

    @property
    def busy(self) -> bool:
        """Whether a picture is being made, or room for it."""
        return self._making or bool(self._coming)

    def warm(self) -> None:
        """Start a process ahead of the first picture."""
        with self._lock:
            self._open_pool().submit(rendering.ready)

    def close(self) -> None:
        """End the processes."""
        self._closed = True
        self._end_pool()

    def _end_pool(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool:
            pool.shutdown(wait=False, cancel_futures=True)

    def _place(self, name: str) -> Path:
        return place(self._folder, name)

    def _make_wished(self) -> None:
        while not self._closed and (name := self._next_wish()):
            try:
                self.thumb(name)
            except LoupeError as error:
                log.debug("Nothing made ahead of %s: %s", name, error)

    def _next_wish(self) -> str:
        with self._lock:
            self._making = bool(self._wished)
            return self._wished.popleft() if self._wished else ""

    def _made(
        self,
        name: str,
        file: str,
        make: Callable[..., int],
        *how: Any,
        of: Path | None = None,
        until: Path | None = None,
    ) -> Path:
        """The file, made if it is not there; returns as soon as `until` is there, if named."""
        own = self._place(name)
        target = own / file
        if target.exists():
            _touch(own)
            return target
        source = of or self._files.local_path(name)
        work, mine = self._begin(target, make, source, how)
        if mine:
            work.add_done_callback(partial(self._arrived, target))
        try:
            _await(work, until)
        except CancelledError as error:
            raise Unavailable("The server is being stopped.") from error
        except BrokenProcessPool as error:
            self._end_pool()
            raise Unavailable("The picture was too much for this machine's memory.") from error
        except OSError as error:
            raise Unavailable(
                f"The picture {name[:12]}… cannot be made smaller: {error.strerror}."
            ) from error
        return target

    def _arrived(self, target: Path, work: Future[int]) -> None:
        try:
            if not work.cancelled() and work.exception() is None:
                self._make_room(work.result())
        finally:
            self._coming.pop(target, None)

    def _begin(
        self, target: Path, make: Callable[..., int], source: Path, how: tuple[Any, ...]
    ) -> tuple[Future[int], bool]:
        with self._lock:
            running = self._coming.get(target)
            if running is None and target.exists():
                # It came while this one was on its way here.
                running = Future()
                running.set_result(0)
            if running:
                return running, False
            self.begun += 1
            begun = self._open_pool().submit(make, source, target, *how)
            self._coming[target] = begun
            return begun, True

    def _open_pool(self) -> ProcessPoolExecutor:
        if self._closed:
            raise Unavailable("The server is being stopped.")
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes, apart.context("spawn"), rendering.serve_parent
            )
        return self._pool

    def _make_room(self, size: int) -> None:
        with self._lock:
            self._held += size
            # Imports write here too.
            if time.monotonic() - self._counted > RECOUNT:
                self._held, self._counted = held(self._folder), time.monotonic()
            if self._held <= self._bound:
                return
            self._held -= _drop_oldest(self._folder, self._held - 0.8 * self._bound)


def of(settings: Settings, files: Files) -> Previews:
    """The smaller pictures of this machine."""
    return Previews(files, home(settings), settings.cache_gb * GIGA)


def home(settings: Settings) -> Path:
    """Where a server of this machine keeps the smaller pictures."""
    return settings.cache / "pictures"


def place(folder: Path, name: str) -> Path:
    """Where the smaller pictures of a file lie."""
    return folder / name[:2] / name


def held(folder: Path) -> float:
    """How many bytes of smaller pictures there are."""
    return float(sum(_size(Path(at) / name) for at, _, names in os.walk(folder) for name in names))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another process has just written or dropped it
        return 0


def _await(work: Future[int], until: Path | None) -> None:
    if until is None:
        work.result(PATIENCE)
        return
    end = time.monotonic() + PATIENCE
    while not until.exists() and time.monotonic() < end:
        if wait([work], GLANCE).done:
            work.result()
            return


def _touch(own: Path) -> None:
    """Note that these were looked at; once an hour is enough."""
    try:
        if time.time() - own.stat().st_mtime > AN_HOUR:
            own.touch()
    except FileNotFoundError:
        log.debug("%s was just dropped", own)


def _drop_oldest(folder: Path, surplus: float) -> float:
    """Remove pictures that were not looked at for longest, until `surplus` bytes are gone.

    Tiles go first: they are most of it, and are made anew while their preview is looked at.
    """
    every = sorted(folder.glob("*/*"), key=lambda own: own.stat().st_mtime)
    gone = 0.0
    for drop in (_drop_tiles, _drop_all):
        for own in every:
            if gone >= surplus:
                break
            gone += drop(own)
    log.info("Dropped %.0f MB of pictures that were not looked at for longest.", gone / 1e6)
    return gone


def _drop_tiles(own: Path) -> float:
    """Remove the tiles of a picture, which is no look at it."""
    if not (own / TILES).exists():
        return 0.0
    looked_at = own.stat()
    gone = _drop_all(own / TILES)
    with suppress(FileNotFoundError):  # another process has just dropped it
        os.utime(own, ns=(looked_at.st_atime_ns, looked_at.st_mtime_ns))
    return gone


def _drop_all(folder: Path) -> float:
    gone = held(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return gone
