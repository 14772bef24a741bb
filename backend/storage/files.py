"""Bytes that live once: pictures and weights, named by their SHA-256, under any fsspec URL."""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import fsspec

from backend.errors import Invalid, NotFound
from backend.settings import Settings

BLOCK = 1 << 20


class Files:
    """A store of bytes by content hash. A file is there whole or not at all."""

    def __init__(self, root: str, cache: Path) -> None:
        try:
            system, path = fsspec.core.url_to_fs(root)
        except (ValueError, ImportError) as error:
            raise Invalid(
                f"The setting LOUPE_FILES_URL is wrong: {root!r} cannot be opened ({error})."
            ) from error
        self._system: Any = system
        self._root: str = path.rstrip("/")
        self._cache = cache
        self.local = "file" in _protocols(system)

    def put(self, content: bytes) -> str:
        """Keep these bytes; equal bytes are kept once."""
        name = hashlib.sha256(content).hexdigest()
        if not self.has(name):
            self._write(name, content)
        return name

    def put_file(self, path: Path) -> str:
        """Keep a copy of a file without holding it in memory."""
        name = hash_file(path)
        if not self.has(name):
            self._copy(name, path)
        return name

    def has(self, name: str) -> bool:
        """Whether bytes of that hash are kept."""
        return bool(self._system.exists(self._path(name)))

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        with self.open(name) as stream:
            return stream.read()

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """A stream over a file."""
        try:
            stream = self._system.open(self._path(name), "rb")
        except FileNotFoundError as error:
            raise NotFound(f"The file {name[:12]}… is not in the store any more.") from error
        with stream:
            yield stream

    def location(self, name: str) -> str:
        """Where the bytes are: a path, or a URL that any machine can open."""
        path = self._path(name)
        return path if self.local else str(self._system.unstrip_protocol(path))

    def local_path(self, name: str) -> Path:
        """A path on this machine; a remote file is fetched once into the cache."""
        if self.local:
            path = Path(self._path(name))
            if not path.is_file():
                raise NotFound(f"The file {name[:12]}… is not in the store any more.")
            return path
        target = self._cache / "files" / name[:2] / name
        if not target.is_file():
            with self.open(name) as stream:
                _replace(target, stream)
        return target

    def _path(self, name: str) -> str:
        if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
            raise Invalid(f"{name[:80]!r} is not the name of a file.")
        return f"{self._root}/{name[:2]}/{name}"

    def _write(self, name: str, content: bytes) -> None:
        if self.local:
            _replace_bytes(Path(self._path(name)), content)
            return
        # An object store shows an object only when it is complete.
        self._system.makedirs(os.path.dirname(self._path(name)), exist_ok=True)
        self._system.pipe_file(self._path(name), content)

    def _copy(self, name: str, source: Path) -> None:
        if self.local:
            with source.open("rb") as stream:
                _replace(Path(self._path(name)), stream)
            return
        self._system.makedirs(os.path.dirname(self._path(name)), exist_ok=True)
        self._system.put_file(str(source), self._path(name))


def connect(settings: Settings) -> Files:
    """The store that the settings name."""
    return Files(settings.files_root, settings.cache)


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def replace(target: Path, content: bytes) -> None:
    """Write a file of ours so that a reader sees the old one or the whole new one."""
    _replace_bytes(target, content)


def _protocols(system: Any) -> tuple[str, ...]:
    protocol = system.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _replace_bytes(target: Path, content: bytes) -> None:
    with _part(target) as part:
        part.write_bytes(content)


def _replace(target: Path, stream: BinaryIO) -> None:
    with _part(target) as part, part.open("wb") as out:
        shutil.copyfileobj(stream, out, BLOCK)


@contextmanager
def _part(target: Path) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
