"""What the worker does for each kind of job, one module a kind; may ask every room but review."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from backend.errors import Invalid
from workers.context import Context

HANDLERS = {
    "train": "workers.handlers.models.train",
    "tune": "workers.handlers.models.tune",
    "scale": "workers.handlers.models.scale",
    "benchmark": "workers.handlers.models.benchmark",
    "detect": "workers.handlers.runs.detect",
    "propose": "workers.handlers.runs.detect",
    "glimpse": "workers.handlers.models.glimpse",
    "try": "workers.handlers.runs.trying",
    "watch": "workers.handlers.runs.watch",
    "evaluate": "workers.handlers.models.evaluate",
    "judge": "workers.handlers.models.judge",
    "doubts": "workers.handlers.review.doubts",
    "check": "workers.handlers.labels.check",
    "publish": "workers.handlers.runs.publish",
    "register": "workers.handlers.models.register",
    "import": "workers.handlers.labels.importing",
    "export": "workers.handlers.labels.exporting",
    "remove": "workers.handlers.projects.removal",
    "purge": "workers.handlers.projects.purge",
}


class Handler(Protocol):
    """A module of this folder; what `run` gives back is kept as the job's result."""

    run: Callable[[Context], Mapping[str, Any]]


def find(kind: str) -> Handler:
    """The module that carries out a kind of job."""
    if kind not in HANDLERS:
        raise Invalid(f"This version of the worker cannot carry out jobs of the kind {kind!r}.")
    return cast("Handler", importlib.import_module(HANDLERS[kind]))
