"""Which pool carries out a run: processes of this machine, or actors of the Ray cluster."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, Self

from workers import cluster
from workers.context import Context
from workers.demand import reservation
from workers.engine import chunks, setups
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


def open_pool(context: Context, setup: Setup, images: int, options: Mapping[str, Any]) -> Pool:
    """The pool for a run of that many images."""
    if _wants_ray(context, images, options):
        return _on_cluster(context, setup, options)
    wished = min(int(options.get("workers", 0)), len(os.sched_getaffinity(0)))
    return LocalPool(setup, wished, check=context.check)


def _on_cluster(context: Context, setup: Setup, options: Mapping[str, Any]) -> Pool:
    """What is asked for is reserved whole; without a wish it is all that stands or comes first."""
    ray = cluster.join(context)
    wish = setups.need(setup, options)
    need, tell = setups.either(wish, options), functools.partial(context.progress, None)
    if "workers" in options:
        held = reservation.hold(ray, need, tell)
        return RayPool(ray, setups.given(setup, held.need), context.check, held=held)
    if not reservation.room(ray, wish):
        with reservation.reserved(ray, need, tell) as first:  # the actors take its place
            setup = setups.given(setup, first.need)
    return RayPool(ray, setup, context.check, memory_gb=need.memory_gb)


def standing_by(
    context: Context, setup: Setup, images: int, options: Mapping[str, Any]
) -> AbstractContextManager[Pool | None]:
    """The pool, loading the model while the ledger is asked.

    None where a cluster would first have to be started, or nodes of it, perhaps for images that
    are all known.
    """
    if _wants_ray(context, images, options) and not _stands(context, setup, options):
        return nullcontext()
    return open_pool(context, setup, images, options)


def _stands(context: Context, setup: Setup, options: Mapping[str, Any]) -> bool:
    """Whether a cluster is there that can take the model at once, as nobody asks it for more."""
    if not context.settings.ray_address or {"workers", "device", "memory_gb"} & set(options):
        return False
    return reservation.room(cluster.join(context), setups.need(setup, options)) > 0


def _wants_ray(context: Context, images: int, options: Mapping[str, Any]) -> bool:
    """On one machine the cluster finds nothing sooner, so a small run does not wait for it.

    Cards that this machine lacks, and a number of processes, are the cluster's to give.
    """
    if (asked := options.get("ray")) is not None:
        return bool(asked)
    if context.settings.ray_address and ("workers" in options or setups.needs_other(options)):
        return True
    return images >= (FEW if context.settings.ray_address else MANY)


def cut(work: Sequence[Work], workers: int, together: int = 1) -> Iterator[Chunk]:
    """Chunks large enough to cost nothing; small ones last, so that all workers end together.

    Where pictures are looked at `together`, a chunk holds once or several times as many.
    """
    remaining, left = iter(work), len(work)
    for number in itertools.count():
        size = max(SMALLEST, together, min(LARGEST, left // (workers * SHARES)))
        part = tuple(itertools.islice(remaining, size - size % together))
        if not part:
            return
        yield chunks.chunk(number, part)
        left -= len(part)
