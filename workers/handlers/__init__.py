"""What the worker does for each kind of job, one module a kind; may ask every room but review."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from backend.errors import Invalid
from workers.context import Context

HANDLERS = {
    "train": "workers.handlers.train",
    "tune": "workers.handlers.tune",
    "scale": "workers.handlers.scale",
    "benchmark": "workers.handlers.benchmark",
    "detect": "workers.handlers.detect",
    "propose": "workers.handlers.detect",
    "try": "workers.handlers.trying",
    "watch": "workers.handlers.watch",
    "evaluate": "workers.handlers.evaluate",
    "judge": "workers.handlers.judge",
    "check": "workers.handlers.check",
    "publish": "workers.handlers.publish",
    "register": "workers.handlers.register",
    "import": "workers.handlers.importing",
    "export": "workers.handlers.exporting",
    "remove": "workers.handlers.removal",
    "purge": "workers.handlers.purge",
}


class Handler(Protocol):
    """A module of this folder; what `run` gives back is kept as the job's result."""

    run: Callable[[Context], Mapping[str, Any]]


def find(kind: str) -> Handler:
    """The module that carries out a kind of job."""
    if kind not in HANDLERS:
        raise Invalid(f"This version of the worker cannot carry out jobs of the kind {kind!r}.")
    return cast("Handler", importlib.import_module(HANDLERS[kind]))
