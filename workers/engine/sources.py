"""Where pictures come from that are in no project: a file, a folder, a list, or a URL."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from backend.errors import Invalid, NotFound
from backend.formats.source import archives

SUFFIXES = frozenset((".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"))
LISTS = frozenset((".txt", ".lst"))


@dataclass(frozen=True, slots=True)
class SourcePicture:
    """A picture to be looked at: what people call it, and where its bytes are.

    `error` says why it is not to be looked at.
    """

    image_id: int
    name: str
    source: str
    sha256: str = ""
    golden: str = ""
    golden_sha256: str = ""
    error: str = ""


def items(
    place: str, written: Mapping[str, Sequence[int]] | None = None
) -> Iterator[SourcePicture]:
    """The pictures of a place, in the order of their names, numbered from 1; see `Held`."""
    found = _remote(place) if "://" in place else _local(Path(place).expanduser())
    return numbered(found, written)


def numbered(
    found: Iterable[tuple[str, str, str]], written: Mapping[str, Sequence[int]] | None = None
) -> Iterator[SourcePicture]:
    """Pictures of these names, places and hashes, numbered from 1.

    Those that an earlier attempt has `written` keep their numbers, whatever has come between.
    """
    kept = {name: iter(numbers) for name, numbers in (written or {}).items()}
    highest = max(itertools.chain.from_iterable((written or {}).values()), default=0)
    fresh = itertools.count(highest + 1)
    for name, source, digest in found:
        shown = shown_name(name)
        number = next(kept.get(shown, iter(())), 0) or next(fresh)
        yield SourcePicture(number, shown, source, digest, error=unnamed(name))


def shown_name(name: str) -> str:
    """The name as it can be stored and shown."""
    return name if _is_text(name) else archives.printable(name)


def unnamed(name: str) -> str:
    """Why a file of that name cannot be in a run, or nothing."""
    if _is_text(name):
        return ""
    return f"{archives.printable(name)} was not looked at: its name is not UTF-8; rename the file."


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _listed(file: Path) -> list[str]:
    """The names of a list, one a line."""
    data = file.read_bytes()
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Invalid(
            f"Line {line} of the list {file} is not UTF-8; save the list as UTF-8."
        ) from error
    if names := [line.strip() for line in lines if line.strip()]:
        return names
    raise Invalid(f"The list {file} is empty; write the name of a picture on each line.")


def _local(place: Path) -> Iterator[tuple[str, str, str]]:
    if place.is_dir():
        paths = sorted(p for p in place.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
        names = [p.relative_to(place).as_posix() for p in paths]
        if not names:
            kinds = ", ".join(sorted(SUFFIXES))
            raise Invalid(f"The folder {place} holds no pictures ({kinds}).")
    elif place.suffix.lower() in LISTS and place.is_file():
        names, place = _listed(place), place.parent
    elif place.is_file():
        names, place = [place.name], place.parent
    else:
        raise NotFound(f"There is no picture, folder or list {place}.")
    home = str(place.absolute())
    for name in names:
        yield name, os.path.join(home, name), ""


def is_picture(name: str) -> bool:
    """Whether a file of that name is looked at."""
    return Path(name).suffix.lower() in SUFFIXES


def digest(path: str | Path) -> str:
    """The hash of the bytes; a file that is not there is told of when it is looked at."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _remote(url: str) -> Iterator[tuple[str, str, str]]:
    system, root = _system(url)
    try:
        paths = sorted(system.find(root)) or [root]
    except FileNotFoundError as error:
        raise NotFound(f"There is nothing at {url}.") from error
    kept = [path for path in paths if Path(path).suffix.lower() in SUFFIXES]
    if not kept:
        raise Invalid(f"There are no pictures at {url} ({', '.join(sorted(SUFFIXES))}).")
    for path in kept:
        name = path.removeprefix(root).lstrip("/") or Path(path).name
        full = system.unstrip_protocol(path)
        # A store names a version of an object without sending it; that stands for its bytes.
        token = f"{full} {system.ukey(path)}"
        yield name, full, hashlib.sha256(os.fsencode(token)).hexdigest()


def _system(url: str) -> tuple[Any, str]:
    try:
        system, root = fsspec.core.url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise Invalid(f"The URL {url} cannot be opened: {error}.") from error
    return system, root.rstrip("/")
