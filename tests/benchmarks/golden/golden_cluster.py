"""How the golden board's bulk job scales: real boards through actors of a real Ray cluster.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden.golden_cluster [--actors 1 2] [--nodes 2]

The pool, the chunks and the model are those of a run; the nodes are raylets of this machine, so
that there is something to gain only up to its cores.
"""

from __future__ import annotations

import argparse
import os
import time

from tests.benchmarks.golden import deeppcb
from workers import cluster as clusters
from workers.engine import chunks
from workers.engine.chunks import Work
from workers.engine.pools.actors import RayPool
from workers.engine.work import Setup

CHUNK = 16


def main() -> None:
    """Print a line for each number of actors."""
    options = argparse.ArgumentParser()
    options.add_argument("--actors", type=int, nargs="*", default=[1, 2])
    options.add_argument("--nodes", type=int, default=2)
    asked = options.parse_args()
    os.environ.update(clusters.QUIET, RAY_AUTH_MODE="disabled", OMP_NUM_THREADS="1")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(asked.nodes):
        made.add_node(
            num_cpus=-(-max(asked.actors) // asked.nodes), object_store_memory=200_000_000
        )
    ray = clusters.connect(made.address)
    pairs = deeppcb.pairs("trainval")
    work = [Work(i, str(pair.board), str(pair.golden)) for i, pair in enumerate(pairs)]
    setup = Setup("workers.families.golden:untrained", (deeppcb.KINDS,))
    for actors in asked.actors:
        with RayPool(ray, setup, most=actors) as pool:
            pool.until_ready()
            began, load = time.perf_counter(), os.getloadavg()[0]
            results = list(pool.run(chunks.cut(work, CHUNK)))
            seconds = time.perf_counter() - began
        done, places = sum(map(len, results)), {each.worker for each in results}
        print(
            f"{actors} actors ({len(places)} at work): {done} pairs in {seconds:.1f} s,"
            f" {done / seconds:.1f} a second; load before {load:.1f}",
            flush=True,
        )
    ray.shutdown()


if __name__ == "__main__":
    main()
