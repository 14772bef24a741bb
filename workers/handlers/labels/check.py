"""The check of the worker: small steps that are saved, resumed after a crash, and cancelled."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast

from backend.jobs import kinds
from backend.storage import files
from workers import cluster
from workers.context import Context


def run(context: Context) -> Mapping[str, Any]:
    """Take the steps that no earlier attempt has taken."""
    request = cast("kinds.Check", context.request)
    saved = context.folder / "steps"
    first = int(saved.read_text()) if saved.exists() else 0
    step = _on_cluster(context) if request.cluster else time.sleep
    for number in range(first, request.steps):
        context.progress(number / request.steps, f"Step {number + 1} of {request.steps}")
        step(request.seconds)
        files.replace(saved, str(number + 1).encode())
    return {"steps": request.steps, "resumed_at": first}


def _on_cluster(context: Context) -> Any:
    ray = cluster.join(context)
    sleep = ray.remote(num_cpus=1)(_sleep)

    def step(seconds: float) -> None:
        task = sleep.remote(seconds)
        while not ray.wait([task], timeout=0.2)[0]:
            context.check()
        ray.get(task)

    return step


def _sleep(seconds: float) -> None:
    time.sleep(seconds)
