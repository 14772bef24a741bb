"""Pictures on a machine that does not see our disk: each travels there once, kept by its hash."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.engine.chunks import Chunk

log = logging.getLogger(__name__)
BOUND = 8e9  # bytes; what was not used for longest goes first
LEFT = 0.8


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file that can be fetched: the hash of its bytes, and where the cluster holds them."""

    sha256: str
    ref: Any


def parcels(chunk: Chunk, put: Callable[[bytes], Any]) -> Mapping[str, Parcel]:
    """The files of a chunk, ready to be fetched by who lacks them.

    Those that are gone are left out, and those that the chunk carries itself.
    """
    found = {}
    for source in {*chunk.sources, *chunk.goldens} - {"", *chunk.carried}:
        if "://" not in source and Path(source).is_file():
            content = Path(source).read_bytes()
            found[source] = Parcel(hashlib.sha256(content).hexdigest(), put(content))
    return found


class Copies:
    """What was carried to this machine, for all its actors and for the runs to come."""

    def __init__(self, folder: Path | None = None, bound: float = BOUND) -> None:
        self._folder = folder or home()
        self._bound = bound
        self._held = float(sum(_size(path) for path in self._every()))
        self.fetched = 0

    def opened(
        self, sent: Mapping[str, Parcel], fetch: Callable[[Sequence[Any]], Sequence[bytes]]
    ) -> Mapping[str, bytes]:
        """The bytes by source; only what is not here is fetched."""
        found = {source: self._read(parcel.sha256) for source, parcel in sent.items()}
        lacking = [source for source, content in found.items() if content is None]
        for source, content in zip(lacking, fetch([sent[s].ref for s in lacking]), strict=True):
            self._keep(sent[source].sha256, content)
            found[source] = content
            self.fetched += 1
        return {source: content for source, content in found.items() if content is not None}

    def _read(self, sha256: str) -> bytes | None:
        path = self._place(sha256)
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest() == sha256 else None

    def _keep(self, sha256: str, content: bytes) -> None:
        """A full disk costs another journey, not the picture."""
        path = self._place(sha256)
        part = path.with_name(f".{uuid.uuid4().hex}")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(exist_ok=True)
            part.write_bytes(content)
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            log.warning("A picture is not kept on this machine: %s.", error.strerror)
            return
        self._held += len(content)
        if self._held > self._bound:
            self._make_room()

    def _make_room(self) -> None:
        every = sorted(self._every(), key=_used)
        self._held = float(sum(map(_size, every)))
        for path in every:
            if self._held <= LEFT * self._bound:
                return
            self._held -= _size(path)
            with suppress(FileNotFoundError):
                path.unlink()

    def _every(self) -> list[Path]:
        return list(self._folder.glob("*/*"))

    def _place(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256


def home() -> Path:
    """Where this machine keeps pictures that were carried to it, apart from other users'."""
    return Path(tempfile.gettempdir()) / f"loupe-pictures-{os.getuid()}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # another actor has just dropped it
        return 0


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
