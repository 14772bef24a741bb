"""Nodes of Snowflake's container runtime: asked for and given back, where this runs inside it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

RUNTIME = "snowflake.ml.runtime_cluster"
ALONE = 1  # nodes that are left


def is_here() -> bool:
    """Whether this machine is one of that runtime."""
    try:
        return importlib.util.find_spec(RUNTIME) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def asked_for(count: int) -> Iterator[str]:
    """So many nodes while the block runs; says what there is."""
    if not is_here():
        yield "This is not Snowflake's container runtime: no node is asked for."
        return
    scale = importlib.import_module(RUNTIME).scale_cluster
    try:
        scale(count)
        yield f"{count} nodes are there."
    finally:
        scale(ALONE)
