"""Unpacks archives from outside: under names of our own, within bounds, links left alone."""

from __future__ import annotations

import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from backend.errors import Invalid
from backend.formats.base import Problem
from backend.formats.source import shelf, tar_stream

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".txz")
MOST_FILES = 400_000  # Python keeps 0.6 kB in memory of each member of a zip
MOST_RATIO = 300  # of bytes unpacked to bytes packed, once it matters (see _MATTERS)
_MATTERS = 256 * 1024 * 1024
LONGEST_NAME, SHOWN = 1000, 200  # letters; the second, of a name that is refused
_LARGEST_DIRECTORY = 100 * MOST_FILES  # bytes that a zip may take to list its members
_BLOCK = 1024 * 1024
_BROKEN = (
    OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, NotImplementedError, RecursionError,
)  # fmt: skip


@dataclass(slots=True)
class Unpacked:
    """What came out: under which generated name each file lies, and what was refused."""

    files: shelf.Texts = field(default_factory=shelf.Texts)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Budget:
    """Counts what has come out, and stops an archive that gives too much."""

    archive: Path
    most: int
    files: int = 0
    size: int = 0

    def file(self) -> None:
        self.files += 1
        if self.files > MOST_FILES:
            raise Invalid(
                f"{self.archive.name} holds more than {MOST_FILES:,} files; "
                "unpack it and import the folder."
            )

    def take(self, size: int) -> None:
        self.size += size
        if self.size > self.most:
            raise Invalid(
                f"{self.archive.name} unpacks to more than {self.most / 1e9:.3g} GB "
                f"(LOUPE_MAX_UPLOAD_GB)."
            )
        packed = self.archive.stat().st_size
        if self.size > _MATTERS and self.size > MOST_RATIO * packed:
            raise Invalid(
                f"{self.archive.name} is a bomb: it unpacks to {MOST_RATIO} times itself."
            )


def is_archive(path: Path) -> bool:
    """Whether the name is one of an archive that can be read."""
    return path.name.lower().endswith(SUFFIXES)


def unpack(archive: Path, into: Path, most_bytes: int) -> Unpacked:
    """Unpack the regular files of an archive into a folder, under generated names."""
    result = Unpacked()
    budget = _Budget(archive, most_bytes)
    into.mkdir(parents=True, exist_ok=True)
    try:
        if archive.name.lower().endswith(".zip"):
            _unzip(archive, into, result, budget)
        else:
            _untar(archive, into, result, budget)
    except (*_BROKEN, zipfile.BadZipFile, tarfile.TarError) as error:
        raise Invalid(f"{archive.name} is not a whole archive: {error}.") from error
    return result


def _unzip(archive: Path, into: Path, result: Unpacked, budget: _Budget) -> None:
    with _Zip(io.FileIO(archive)) as file, zipfile.ZipFile(file) as opened:
        for member in opened.infolist():
            if member.filename.endswith("/"):
                continue
            budget.file()
            mode = member.external_attr >> 16
            regular = not stat.S_IFMT(mode) or stat.S_ISREG(mode)
            name = _accepted(member.filename, result, regular=regular)
            if not name:
                continue
            if member.flag_bits & 0x1:
                result.problems.append(Problem(name, None, "it is encrypted."))
                continue
            try:
                with opened.open(member) as source:
                    _store(source, name, into, result, budget)
            except (*_BROKEN, zipfile.BadZipFile, RuntimeError) as error:
                result.problems.append(Problem(name, None, f"it cannot be unpacked: {error}."))


def _untar(archive: Path, into: Path, result: Unpacked, budget: _Budget) -> None:
    for member, source in tar_stream.members(archive, budget.take):
        budget.file()
        if member.isdir():
            continue
        name = _accepted(member.name, result, regular=member.isreg())
        if name and source is not None:
            _store(source, name, into, result, budget)


class _Zip(io.BufferedReader):
    """A zip whose list of members, which is read in one piece, has a bound."""

    def read(self, size: int | None = -1) -> bytes:
        if (size or 0) > _LARGEST_DIRECTORY:
            raise Invalid(
                f"{Path(str(self.name)).name} lists more than {MOST_FILES:,} files; "
                "unpack it and import the folder."
            )
        return super().read(size)


def _accepted(raw: str, result: Unpacked, *, regular: bool) -> str:
    """The name as it may be used, or nothing and a problem."""
    name = str(PurePosixPath(raw.replace("\\", "/")))
    reason = _refusal(raw, name, result, regular=regular)
    if reason:
        shown = printable(raw[:SHOWN]) or "(no name)"
        result.problems.append(Problem(shown, None, reason))
        return ""
    return "" if is_junk(name) else name


def _refusal(raw: str, name: str, result: Unpacked, *, regular: bool) -> str:
    parts = PurePosixPath(name).parts
    if not parts:
        return "a file of the archive has no name."
    if name.startswith("/") or ".." in parts or (parts and parts[0].endswith(":")):
        return "its name leads out of the archive."
    if len(raw) > LONGEST_NAME:
        return f"its name has more than {LONGEST_NAME:,} characters."
    if printable(raw) != raw:
        return "its name is not readable text."
    if not regular:
        return "it is a link or a device, not a file."
    if name in result.files:
        return "the archive holds two files of this name; the first one counts."
    return ""


def _store(source: IO[bytes], name: str, into: Path, result: Unpacked, budget: _Budget) -> None:
    generated = f"{len(result.files):07d}"
    with (into / generated).open("wb") as target:
        for block in _blocks(source):
            budget.take(len(block))
            target.write(block)
    result.files[name] = generated


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    while block := source.read(_BLOCK):
        yield block


def is_junk(name: str) -> bool:
    """Files that systems leave behind, which no one means."""
    parts = PurePosixPath(name).parts
    return any(part.startswith(".") or part in ("__MACOSX", "Thumbs.db") for part in parts)


def printable(name: str) -> str:
    """A file's name as text that can be stored and shown."""
    clean = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in clean)
