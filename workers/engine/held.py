"""Reads small pictures once: their bytes wait from being hashed until they are looked at."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from workers.engine import files, sources
from workers.engine.chunks import Chunk
from workers.engine.sources import SourcePicture

SMALL = 16_384  # bytes of a picture: of larger ones a chunk would not fit into a pipe's buffer
ROOM = 64_000_000  # bytes that wait at most
SENT = 49_152  # bytes that go with a chunk at most


class Held:
    """The bytes of pictures that were hashed and not looked at, as far as there is room."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}
        self._room = ROOM

    def hashed(self, item: SourcePicture) -> SourcePicture:
        """With the hash of its bytes, which takes a while for many."""
        if item.sha256:
            return item
        try:
            data = files.read(item.source, min(SMALL, self._room))
        except (OSError, ValueError):
            return item  # told when it is looked at
        if data is None:
            return replace(item, sha256=sources.digest(Path(item.source)))
        self._waiting[item.source] = data
        self._room -= len(data)
        return replace(item, sha256=hashlib.sha256(data).hexdigest())

    def given(self, chunk: Chunk) -> Chunk:
        """A chunk with what waits for it."""
        found = {one: self._waiting.pop(one) for one in chunk.sources if one in self._waiting}
        size = sum(map(len, found.values()))
        self._room += size
        return replace(chunk, carried=found) if found and size <= SENT else chunk
