"""Which pool carries out a run: processes of this machine, or actors of the Ray cluster."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, Self

from workers import cluster
from workers.context import Context
from workers.engine import chunks
from workers.engine.chunks import Chunk, ChunkResult, Work
from workers.engine.pools.actors import RayPool
from workers.engine.pools.local import LocalPool
from workers.engine.work import Setup

FEW, MANY = 64, 2000  # images from which a joined cluster, or one of our own, is used
SMALLEST, LARGEST = 4, 32  # images in a chunk; LARGEST keeps it below a pipe's buffer
SHARES = 8  # of what is left: a chunk is at most one, for each worker


class Pool(Protocol):
    """Answers chunks; whoever dies in it is replaced."""

    @property
    def size(self) -> int:
        """How many look at once."""
        ...

    def run(self, work: Iterable[Chunk]) -> Iterator[ChunkResult]:
        """The answer to every chunk, in the order in which they come."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def open_pool(context: Context, setup: Setup, images: int, ray: bool | None) -> Pool:
    """The pool for a run of that many images."""
    if _wants_ray(context, images, ray):
        return RayPool(cluster.join(context), setup, context.check)
    return LocalPool(setup, check=context.check)


def standing_by(
    context: Context, setup: Setup, images: int, ray: bool | None
) -> AbstractContextManager[Pool | None]:
    """The pool, loading the model while the ledger is asked.

    None where a cluster would first have to be started, perhaps for images that are all known.
    """
    if _wants_ray(context, images, ray) and not context.settings.ray_address:
        return nullcontext()
    return open_pool(context, setup, images, ray)


def _wants_ray(context: Context, images: int, asked: bool | None) -> bool:
    """On one machine the cluster finds nothing sooner, so a small run does not wait for it."""
    if asked is not None:
        return asked
    return images >= (FEW if context.settings.ray_address else MANY)


def cut(work: Sequence[Work], workers: int) -> Iterator[Chunk]:
    """Chunks large enough to cost nothing; small ones last, so that all workers end together."""
    remaining, left = iter(work), len(work)
    for number in itertools.count():
        size = max(SMALLEST, min(LARGEST, left // (workers * SHARES)))
        part = tuple(itertools.islice(remaining, size))
        if not part:
            return
        yield chunks.chunk(number, part)
        left -= len(part)
