"""Golden boards, one core: milliseconds a pair, all in, and the memory over many pairs.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden.golden_speed [--pairs 10000 --keep]

Goes round and round over the test split with the rules: decode, register, compare, measure, judge.
"""

from __future__ import annotations

import argparse
import time

import cv2
import psutil

from tests.benchmarks import results
from tests.benchmarks.golden import deeppcb
from workers.families import golden

EVERY = 1000


def main() -> None:
    """Print a line for every thousand pairs."""
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=10_000)
    options.add_argument("--keep", action="store_true")
    given = options.parse_args()
    count = given.pairs
    cv2.setNumThreads(1)
    pairs, model, me = deeppcb.pairs("test"), golden.untrained(deeppcb.KINDS), psutil.Process()
    model.predict([pairs[0].picture()])
    decoding = looking = 0.0
    for number in range(1, count + 1):
        began = time.process_time()
        picture = pairs[number % len(pairs)].picture()
        decoded = time.process_time()
        model.predict([picture])
        decoding += decoded - began
        looking += time.process_time() - decoded
        if number % EVERY == 0 or number == count:
            print(
                f"{number} pairs: {looking / number * 1000:.1f} ms of one core each,"
                f" and {decoding / number * 1000:.1f} to decode both;"
                f" {me.memory_info().rss / 1e6:.0f} MB resident",
                flush=True,
            )
    if given.keep:
        how = f"{count:,} pairs of DeepPCB, the rules, one core by processor seconds"
        memory = me.memory_info().rss / 1e6
        each = [("a pair looked at", looking), ("both decoded", decoding)]
        rows = [(what, round(1000 * spent / count, 1), "ms") for what, spent in each]
        rows.append(("memory at the end", round(memory), "MB"))
        results.keep("golden_speed", [results.Figure(*row, how=how) for row in rows])


if __name__ == "__main__":
    main()
