"""Event loops for tests, in threads of their own: Playwright leaves one running in its thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives back."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
