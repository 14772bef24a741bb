"""Large pictures: where the time goes, and whether memory stays flat over 10,000 of them.

`python -m tests.benchmarks.runs.detect_large [--images 10000] [--sizes 3000x2000 6000x4000]`.
One worker of the engine, as each core has one, in this process; chunks as in a run.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from pathlib import Path

import psutil

from tests import real_data
from tests.benchmarks.runs import detect_pictures, detect_rows
from workers.engine import chunks
from workers.engine.chunks import Work
from workers.engine.work import ChunkWorker, Setup

DIFFERENT, CHUNK = 12, 16


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--sizes", nargs="*", default=["3000x2000", "6000x4000"])
    asked = parser.parse_args()
    weights = real_data.weights() / "yolo11n_recovered.pt"
    prepared = detect_rows.prepared("bf16", weights)
    loader = "workers.runtimes.preparing:load"
    worker = ChunkWorker(Setup(loader, (prepared, 0.25, 1), wanted=prepared.source.image_size))
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    for size in asked.sizes:
        width, height = (int(side) for side in size.split("x"))
        _measure(worker, detect_pictures.large(DIFFERENT, width, height), size, asked.images)


def _measure(worker: ChunkWorker, folder: Path, size: str, images: int) -> None:
    paths = itertools.cycle(sorted(folder.glob("*.jpg")))
    work = (Work(i, str(path)) for i, path in zip(range(images), paths, strict=False))
    memory: list[int] = []
    decode, infer, count = 0.0, 0.0, 0
    began, used = time.perf_counter(), time.process_time()
    for chunk in chunks.cut(work, CHUNK):
        result = worker.look(chunk)
        decode, infer = decode + result.decode_seconds, infer + result.infer_seconds
        count += len(result)
        if len(memory) < 10 * count // images:
            memory.append(round(psutil.Process().memory_info().rss / 2**20))
    seconds, used = time.perf_counter() - began, time.process_time() - used
    print(
        f"{size}: {count:,} pictures, {1000 * used / count:.1f} ms of a core each; decode "
        f"{decode / seconds:.1%}, forward {infer / seconds:.1%}, together "
        f"{(decode + infer) / seconds:.1%}; memory in MB over the run: {memory}",
        flush=True,
    )


if __name__ == "__main__":
    main()
