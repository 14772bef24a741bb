"""Trained networks from their files, ready to be made into a graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from backend.errors import Invalid
from workers.runtimes import Source

QUIET = {
    "ULTRALYTICS_SAFE_LOAD": "1",  # a weights file is a pickle: refuse code in it
    "YOLO_OFFLINE": "true",
    "YOLO_AUTOINSTALL": "false",
    "YOLO_VERBOSE": "false",
}


def yolo(weights: Path) -> tuple[Any, tuple[str, ...]]:
    """A fused ultralytics detection network in float32, and its classes."""
    os.environ.update(QUIET)
    import ultralytics

    network = ultralytics.YOLO(str(weights), task="detect").model.eval().float()
    network.fuse(verbose=False)
    return network, tuple(network.names[i] for i in sorted(network.names))


def detector(source: Source) -> tuple[Any, tuple[str, ...]]:
    """The graph of a family that has one, and its classes."""
    from workers.runtimes.graph import YoloGraph

    if source.family != "yolo" or source.weights is None:
        raise Invalid(f"The family {source.family} has no graph; it runs as it is.")
    network, classes = yolo(source.weights)
    return YoloGraph(network).eval(), classes
