"""Threads of their own for reading, for saving and for long answers: none takes the others away.

Who waits for a thread holds none, and is told when the wait was too long. What a route answers
is written as JSON in its thread too, by its type and without a second look at each value.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from fastapi.routing import APIRoute
from starlette.responses import Response

from backend.errors import Unavailable

# Seconds: who saves is told soon; a page of pictures may take its time on a busy machine.
PATIENCE, LONGEST = 20.0, 120.0
SAFE = frozenset({"GET", "HEAD"})
Endpoint = Callable[..., Any]
E = TypeVar("E", bound=Endpoint)
T = TypeVar("T")


class ThreadPool(StrEnum):
    """What a request does while it holds a thread."""

    READ = "reading"
    WRITE = "saving"
    HEAVY = "long answers"
    PICTURE = "pictures"


# Together fewer than the connections that `backend.storage.engine` keeps for a process.
SIZES = {ThreadPool.READ: 14, ThreadPool.WRITE: 10, ThreadPool.HEAVY: 4, ThreadPool.PICTURE: 8}
_POOL = "loupe_pool"
_LIMITERS: RunVar[dict[ThreadPool, anyio.CapacityLimiter]] = RunVar("loupe_pools")


def heavy(endpoint: E) -> E:
    """Mark a route whose answer grows with the project, so that it never stands before others."""
    setattr(endpoint, _POOL, ThreadPool.HEAVY)
    return endpoint


def picture(endpoint: E) -> E:
    """Mark a route that gives a picture: many are asked for at once, and some are made first."""
    setattr(endpoint, _POOL, ThreadPool.PICTURE)
    return endpoint


class Pooled(APIRoute):
    """A route that runs in a thread of its pool."""

    def __init__(self, path: str, endpoint: Endpoint, **options: Any) -> None:
        self.pool = _pool(endpoint, options.get("methods") or {"GET"})
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = _threaded(self._written(endpoint), self.pool)
        super().__init__(path, endpoint, **options)

    def _written(self, endpoint: Endpoint) -> Endpoint:
        """What the endpoint answers, as JSON where it is a value."""

        @functools.wraps(endpoint)
        def answer(*given: Any, **named: Any) -> Any:
            told, field = endpoint(*given, **named), self.response_field
            if field is None or isinstance(told, Response):
                return told
            text = field.serialize_json(told)
            return Response(text, self.status_code or 200, media_type="application/json")

        return answer


async def run(pool: ThreadPool, work: Callable[..., T], *given: Any, **named: Any) -> T:
    """Do the work in a thread of the pool; only the wait before it is bounded."""
    limiter, me = _limiters()[pool], object()
    patience = PATIENCE if pool is ThreadPool.WRITE else LONGEST
    with anyio.move_on_after(patience) as wait:
        await limiter.acquire_on_behalf_of(me)
    if wait.cancelled_caught:
        raise Unavailable(
            f"Too much is asked for at once: there was no place for {pool} for {patience:.0f} "
            "seconds. Nothing was changed; try again in a moment."
        )
    try:
        one = anyio.CapacityLimiter(1)
        return await anyio.to_thread.run_sync(partial(work, *given, **named), limiter=one)
    finally:
        limiter.release_on_behalf_of(me)


def _threaded(endpoint: Endpoint, pool: ThreadPool) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(endpoint)
    async def running(*given: Any, **named: Any) -> Any:
        return await run(pool, endpoint, *given, **named)

    return running


def _pool(endpoint: Endpoint, methods: set[str]) -> ThreadPool:
    usual = ThreadPool.READ if set(methods) <= SAFE else ThreadPool.WRITE
    return ThreadPool(getattr(endpoint, _POOL, usual))


def _limiters() -> dict[ThreadPool, anyio.CapacityLimiter]:
    try:
        return _LIMITERS.get()
    except LookupError:
        made = {pool: anyio.CapacityLimiter(size) for pool, size in SIZES.items()}
        _LIMITERS.set(made)
        return made
