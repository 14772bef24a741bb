"""Spares a run the search through what stays: the modules of its libraries, a million objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

RARELY = 50_000  # objects more than before, after which those of the run are searched


@contextmanager
def spared() -> Iterator[None]:
    """What is there now is not looked through for garbage until this is left."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(RARELY, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
