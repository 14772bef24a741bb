"""Bytes that live once: pictures and weights, named by their SHA-256, under any fsspec URL."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import fsspec

from backend.errors import Damaged, Invalid, NotFound
from backend.settings import Settings

BLOCK = 1 << 20
HASH = re.compile(r"[0-9a-f]{64}")
# What nothing names stays for a day at least; who puts it again within half of it need not write.
FRESH_SECONDS = 12 * 3600.0


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
        if not self.renew(name):
            self._write(name, content)
        return name

    def put_file(self, path: Path) -> str:
        """Keep a copy of a file without holding it in memory."""
        name = hash_file(path)
        if not self.renew(name):
            self._copy(name, path)
        return name

    def put_checked(self, name: str, stream: BinaryIO) -> None:
        """Keep what the stream holds under its name, which must be its hash."""
        self._cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._cache, suffix=".part") as arrived:
            shutil.copyfileobj(stream, arrived, BLOCK)
            arrived.flush()
            if hash_file(Path(arrived.name)) != name:
                raise Invalid(f"The file {name[:12]}… has other bytes than its name says.")
            if not self.renew(name):
                self._copy(name, Path(arrived.name))

    def size(self, name: str) -> int:
        """How many bytes a file has."""
        try:
            return int(self._system.size(self._path(name)))
        except FileNotFoundError as error:
            raise _gone(name) from error

    def sizes(self, names: Sequence[str]) -> list[int | None]:
        """How many bytes each of these has, all asked at once; None of one that is not there."""
        try:
            return list(map(int, self._system.sizes([self._path(name) for name in names])))
        except FileNotFoundError:
            return [self.size(name) if self.has(name) else None for name in names]

    def has(self, name: str) -> bool:
        """Whether bytes of that hash are kept."""
        return bool(self._system.exists(self._path(name)))

    def older(self, seconds: float) -> Iterator[str]:
        """The names of the files that nobody has put, or put again, for so long."""
        before = time.time() - seconds
        for path, facts in self._system.find(self._root, detail=True).items():
            name = str(path).rpartition("/")[2]
            if HASH.fullmatch(name) and _changed(facts) < before:
                yield name

    def remove(self, name: str, seconds: float) -> bool:
        """Remove a file, unless somebody has put it again since; returns whether it is gone."""
        path = self._path(name)
        if not self.local:
            self._system.rm_file(path)
            return True
        # Under another name first: who puts the same bytes now either is seen, or writes anew.
        aside = Path(f"{path}.{uuid.uuid4().hex}.part")
        Path(path).replace(aside)
        if aside.stat().st_mtime >= time.time() - seconds:
            aside.replace(path)
            return False
        aside.unlink()
        return True

    def renew(self, name: str) -> bool:
        """Whether a file is there and stays, as if it was put just now."""
        if not self.has(name):
            return False
        if not self.local:
            # An object's time is that of its writing.
            facts = self._system.info(self._path(name))
            return _changed(facts) > time.time() - FRESH_SECONDS
        try:
            os.utime(self._path(name))
        except FileNotFoundError:
            return False
        return True

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
            raise _gone(name) from error
        with stream:
            yield stream

    def intact(self, name: str) -> bool:
        """Whether the bytes of a file are still those that it is named by."""
        with self.open(name) as stream:
            return _hash(stream) == name

    def intact_path(self, name: str) -> Path:
        """As `local_path`, once it is sure that no byte has changed since it came in."""
        path = self.local_path(name)
        if hash_file(path) == name:
            return path
        if not self.local:
            path.unlink()  # the copy on this machine; the next one may be whole
        raise Damaged(f"The bytes of the file {name[:12]}… have changed in the store.")

    def location(self, name: str) -> str:
        """Where the bytes are: a path, or a URL that any machine can open."""
        path = self._path(name)
        return path if self.local else str(self._system.unstrip_protocol(path))

    def local_path(self, name: str) -> Path:
        """A path on this machine; a remote file is fetched once into the cache."""
        if self.local:
            path = Path(self._path(name))
            if not path.is_file():
                raise _gone(name)
            return path
        target = self._cache / "files" / name[:2] / name
        if not target.is_file():
            with self.open(name) as stream:
                _replace(target, stream)
        return target

    def _path(self, name: str) -> str:
        if not HASH.fullmatch(name):
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
        return _hash(stream)


def _hash(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := stream.read(BLOCK):
        digest.update(block)
    return digest.hexdigest()


def replace(target: Path, content: bytes) -> None:
    """Write a file of ours so that a reader sees the old one or the whole new one."""
    _replace_bytes(target, content)


def _gone(name: str) -> NotFound:
    return NotFound(f"The file {name[:12]}… is not in the store any more.")


def _changed(facts: Mapping[str, Any]) -> float:
    """When a file was written; file systems tell it by various names, or not at all."""
    told = facts.get("mtime") or facts.get("LastModified") or facts.get("last_modified")
    if isinstance(told, datetime):
        return told.timestamp()
    return float(told) if isinstance(told, int | float) else time.time()


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
