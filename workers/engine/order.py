"""In which order a chunk's pictures are looked at: those of one shape together.

A graph is compiled for each shape. The first picture after a change of shape finds the core's
caches full of the other graph and takes a tenth longer, so the shapes of a chunk follow each other,
and the next chunk begins with the shape that the last one ended with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workers.engine import decoding, files
from workers.engine.chunks import Chunk

AHEAD = 32_000_000  # bytes of files that are held at once to look at their sizes


def read_ahead(chunk: Chunk) -> Chunk:
    """With the bytes of small files, which are read once for their sizes and their pixels."""
    carried, held = dict(chunk.carried), 0
    for source in chunk.sources:
        if source in carried or "://" in source:
            continue
        try:
            data = files.read(source, AHEAD - held)
            if data is None:
                break
            carried[source], held = data, held + len(data)
        except (OSError, ValueError):
            continue  # told when it is its turn
    return replace(chunk, carried=carried)


def alike(chunk: Chunk, backwards: bool) -> list[int]:
    """The places of the chunk's pictures from tall to wide, or from wide to tall."""
    slopes = [_slope(source, chunk.carried) for source in chunk.sources]
    return sorted(range(len(chunk)), key=slopes.__getitem__, reverse=backwards)


def _slope(source: str, carried: Mapping[str, bytes]) -> float:
    """Width by height, as far as a glance tells it; 0 for those of which nothing is known."""
    size = decoding.glance(carried[source]) if source in carried else None
    return size[0] / size[1] if size else 0.0
