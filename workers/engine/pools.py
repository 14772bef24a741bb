"""Which pool carries out a run: processes of this machine, or actors of the Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, Self

from workers import cluster
from workers.context import Context
from workers.engine.actors import RayPool
from workers.engine.chunks import Chunk, ChunkResult
from workers.engine.local import LocalPool
from workers.engine.work import Setup

FEW, MANY = 64, 2000  # images from which a joined cluster, or one of our own, is used
SMALLEST, LARGEST = 4, 32  # images in a chunk; LARGEST keeps it below a pipe's buffer


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
) -> AbstractContextManager[LocalPool | None]:
    """Processes that load the model while the ledger is asked; none where Ray will look."""
    if _wants_ray(context, images, ray):
        return nullcontext()
    return LocalPool(setup, check=context.check)


def _wants_ray(context: Context, images: int, asked: bool | None) -> bool:
    """On one machine the cluster finds nothing sooner, so a small run does not wait for it."""
    if asked is not None:
        return asked
    return images >= (FEW if context.settings.ray_address else MANY)


def chunk_size(images: int, workers: int) -> int:
    """Large enough to cost nothing, small enough that all workers end together."""
    return max(SMALLEST, min(LARGEST, images // (workers * 8)))
