"""Trained networks from their files, ready to be made into a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend.errors import Invalid
from workers.runtimes import ModelSource


def yolo(path: Path) -> tuple[Any, tuple[str, ...]]:
    """A fused ultralytics detection network in float32, and its classes."""
    from workers.families.yolo import yolo_network

    header, network = yolo_network.read(path)
    network.fuse(verbose=False)
    return network, header.classes


def about(source: ModelSource) -> tuple[tuple[str, ...], int]:
    """The classes and the image size of a source, its own where it does not name them."""
    if source.weights is None:
        raise Invalid(f"The family {source.family} needs weights: train a model first.")
    if source.family == "yolo":
        from workers.families.yolo import yolo_network

        header, _ = yolo_network.read(source.weights)
    else:
        from workers.weights import weight_files

        header = weight_files.peek(source.weights)
    return header.classes, source.image_size or header.image_size


def quick_detector(source: ModelSource, keep: int) -> Any:
    """The graph for one picture at a time, which leaves out what its scores make superfluous."""
    from workers.runtimes.graph import QuickYoloGraph

    detector(source)  # says why a family has no graph
    assert source.weights is not None
    return QuickYoloGraph(yolo(source.weights)[0], keep).eval()


def detector(source: ModelSource) -> tuple[Any, tuple[str, ...]]:
    """The graph of a YOLO, and its classes."""
    from workers.runtimes.graph import YoloGraph

    if source.family != "yolo" or source.weights is None:
        raise Invalid(f"The family {source.family} has no graph; it runs as it is.")
    network, classes = yolo(source.weights)
    return YoloGraph(network).eval(), classes


def torchvision(source: ModelSource) -> Any:
    """The graph of a family that torchvision's networks serve."""
    from workers.families import classifier, faster_rcnn
    from workers.runtimes.torchvision_graphs import LabelGraph, RcnnGraph

    if source.family == "classifier":
        return LabelGraph(classifier.load(source.weights, "cpu").network).eval()
    return RcnnGraph(faster_rcnn.load(source.weights, "cpu").network).eval()
