"""Reads a tar from its first byte to its last, whose headers stay small whatever they announce."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from backend.errors import Invalid

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# A path takes 4 kB at most; tarfile holds what a header announces in memory, many times over.
LARGEST_HEADER = 128 * 1024
LARGEST_WINDOW = 256 * 1024 * 1024  # memory that an xz may ask for; that of `xz -9` takes 65 MB
_BLOCK = 64 * 1024


def members(
    archive: Path, skipped: Callable[[int], None]
) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Each member with its content, if it has one; `skipped` hears how much of it nobody read."""
    with _unpacked(archive) as content:
        meter = _Meter(content, archive.name)
        with tarfile.open(mode="r|", fileobj=cast("IO[bytes]", meter)) as opened:
            while member := _next(opened, meter):
                with_content = member.isreg() or member.type not in tarfile.SUPPORTED_TYPES
                source = opened.extractfile(member) if with_content else None
                yield member, source
                while source and (rest := source.read(_BLOCK)):
                    skipped(len(rest))


def _next(opened: tarfile.TarFile, meter: _Meter) -> tarfile.TarInfo | None:
    """The next header; tarfile would remember all members, and what headers say of all files."""
    opened.members.clear()  # type: ignore[attr-defined]
    opened.pax_headers.clear()  # type: ignore[attr-defined]
    meter.left = LARGEST_HEADER
    found = opened.next()
    meter.left = math.inf
    return found


class _Meter:
    """A stream that gives no more than what is left."""

    def __init__(self, content: BinaryIO, name: str) -> None:
        self._content = content
        self._name = name
        self.left: float = LARGEST_HEADER

    def read(self, size: int) -> bytes:
        found = self._content.read(size)
        self.left -= len(found)
        if self.left < 0:
            raise Invalid(
                f"{self._name} is no archive to be unpacked: what it says of one of its files "
                f"is longer than {LARGEST_HEADER // 1024} kB."
            )
        return found


def _unpacked(archive: Path) -> closing[BinaryIO]:
    """The tar itself, whatever it is packed with; never more of it in memory than is asked for."""
    with archive.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return closing(gzip.open(archive))  # type: ignore[arg-type]
    if start.startswith(b"BZh"):
        return closing(bz2.open(archive))  # type: ignore[arg-type]
    if start == b"\xfd7zXZ\0":
        return closing(io.BufferedReader(_Xz(archive)))
    return closing(archive.open("rb"))


class _Xz(io.RawIOBase):
    """As `lzma.open`, which lets a file say how much memory it wants."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._decoder = _decoder()

    def readable(self) -> bool:
        return True

    def readinto(self, into: WriteableBuffer) -> int:
        view = memoryview(into)
        while True:
            fed = self._fed()
            if self._decoder.eof and not fed:
                return 0
            if self._decoder.eof:
                self._decoder = _decoder()
            if found := self._decoder.decompress(fed, len(view)):
                view[: len(found)] = found
                return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _fed(self) -> bytes:
        """What the decoder is given next; several xz files may stand behind one another."""
        if self._decoder.eof:
            return (self._decoder.unused_data or self._file.read(_BLOCK)).lstrip(b"\0")
        if not self._decoder.needs_input:
            return b""
        fed = self._file.read(_BLOCK)
        if not fed:
            raise EOFError("it ends too early")
        return fed


def _decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=LARGEST_WINDOW)
