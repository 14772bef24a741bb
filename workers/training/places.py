"""Where a training runs, in words for who compares runs: machines, their cores, cards, memory."""

from __future__ import annotations

import os
import platform
from collections import Counter
from typing import Any

import psutil

from workers import cards

GIGA = 1e9


def about(ray: Any, processes: int) -> dict[str, Any]:
    """The machine of the job, those of the cluster if it has joined one, and what computes."""
    known = cards.names()
    here = _described(len(os.sched_getaffinity(0)), len(known), psutil.virtual_memory().total)
    found = {
        "driver_node_type": here,
        "worker_node_types": _nodes(ray) if ray is not None else here,
        "nodes": len(_alive(ray)) if ray is not None else 1,
        "processes": processes,
        "machine": platform.node(),
        "devices": ", ".join(known) or platform.processor() or platform.machine(),
    }
    return found | ({"device": "cuda"} if known or _cards(ray) else {"device": "cpu"})


def _alive(ray: Any) -> list[Any]:
    return [node for node in ray.nodes() if node["Alive"]]


def _cards(ray: Any) -> bool:
    return ray is not None and ray.cluster_resources().get("GPU", 0) > 0


def _nodes(ray: Any) -> str:
    """The kinds of nodes of the cluster, each with how many there are."""
    kinds = Counter(_node(node) for node in _alive(ray))
    return "; ".join(f"{count} × {kind}" for kind, count in sorted(kinds.items()))


def _node(node: Any) -> str:
    """As the cluster calls its type, where it does, and what the node has."""
    named = node.get("Labels", {}).get("ray.io/node-type", "")
    has = node["Resources"]
    told = _described(int(has.get("CPU", 0)), int(has.get("GPU", 0)), has.get("memory", 0.0))
    return f"{named} ({told})" if named else told


def _described(cores: int, cards: int, memory: float) -> str:
    parts = [f"{cores} cores", *([f"{cards} GPU"] if cards else []), f"{memory / GIGA:.0f} GB"]
    return ", ".join(parts)
