"""Reads whole files of moderate size with as few calls of the system as that takes."""

from __future__ import annotations

import os
from pathlib import Path


def read(path: str | Path, most: int) -> bytes | None:
    """The bytes of a file, or None where it has more than so many."""
    handle = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(handle).st_size
        if size > most:
            return None
        data = os.read(handle, size + 1)
        return data if len(data) == size else data + _rest(handle)
    finally:
        os.close(handle)


def _rest(handle: int) -> bytes:
    """What a file has grown by since it was asked for its size."""
    parts = []
    while part := os.read(handle, 65536):
        parts.append(part)
    return b"".join(parts)
