"""How detection scales over a simulated cluster: devices that sleep as a graphics card would.

`python -m tests.benchmarks.runs.detect_cluster [--devices 1 4 16 64] [--rate 2000] [--chunk 256]`.
Real Ray with several raylets, the real pool, real chunks of paths and packed boxes coming back;
only the device is made up. Efficiency is what came through of what the devices could do.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from workers import cluster as clusters
from workers.engine import chunks
from workers.engine.chunks import Chunk, ChunkResult, Looked, Work
from workers.engine.pools.actors import RayPool
from workers.engine.work import Setup

BOXES = 5
NODES = 4


class Device:
    """Stands where `actors.Looker` stands; takes for a chunk the time that a card would take."""

    def __init__(self, setup: Setup, cargo: object) -> None:
        del cargo
        self._rate = float(setup.arguments[0])
        self._boxes = np.ones((BOXES, 6), np.float32)

    def hello(self, sample: str) -> bool:
        """Ready; a made-up file is as good as seen."""
        return bool(sample) or True

    def look(self, chunk: Chunk) -> ChunkResult:
        """The packed answer, made as the real worker makes it, within the time of the card."""
        began = time.perf_counter()
        looked = [Looked(index, self._boxes, width=640, height=480) for index in chunk.indices]
        packed = chunks.pack(chunk.number, looked, "device")
        time.sleep(max(0.0, len(chunk) / self._rate - (time.perf_counter() - began)))
        return packed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, nargs="*", default=[1, 4, 16, 64])
    parser.add_argument("--rate", type=float, default=2000.0)
    parser.add_argument("--chunk", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    ray = _connect(max(asked.devices))
    print(f"devices of {asked.rate:,.0f} images/s, chunks of {asked.chunk}, {_load()}")
    print(f"{'devices':>8}{'images':>12}{'images/s':>12}{'efficiency':>12}{'driver':>10}")
    for devices in asked.devices:
        images = int(devices * asked.rate * asked.seconds)
        seconds, busy = _run(ray, devices, images, asked)
        rate = images / seconds
        share = rate / (devices * asked.rate)
        print(f"{devices:8}{images:12,}{rate:12,.0f}{share:12.1%}{busy:10.1%}", flush=True)
    print(_load())
    ray.shutdown()


def _connect(devices: int) -> Any:
    os.environ.update(clusters.QUIET, RAY_AUTH_MODE="disabled")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(NODES):
        made.add_node(num_cpus=-(-devices // NODES), object_store_memory=200_000_000)
    return clusters.connect(made.address)


def _run(ray: Any, devices: int, images: int, asked: argparse.Namespace) -> tuple[float, float]:
    """Seconds for all images once the actors are ready, and the driver's share of a core."""
    work = [Work(i, f"/data/lot-{i % 97:03}/board-{i:09}.jpg") for i in range(images)]
    setup = Setup("", (asked.rate,))
    with RayPool(ray, setup, most=devices, looker=Device) as pool:
        pool.until_ready()
        began, used = time.perf_counter(), time.process_time()
        done = _count(pool.run(chunks.cut(work, asked.chunk)))
        seconds = time.perf_counter() - began
        assert done == images, f"{done} of {images}"
        return seconds, (time.process_time() - used) / seconds


def _count(results: Any) -> int:
    seen: Sequence[int]
    total = 0
    for result in results:
        seen = result.counts
        assert seen[0] == BOXES
        total += len(result)
    return total


def _load() -> str:
    return f"load of the machine {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    # Imported by its name, so that the actors find the class by it instead of unpickling it.
    from tests.benchmarks.runs import detect_cluster

    detect_cluster.main()
