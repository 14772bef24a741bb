"""Finding the golden of a board among all of DeepPCB's 1,500: how often it is right, how long.

    LOUPE_REAL_DATA=… python -m tests.benchmarks.golden.finding_goldens [--boards 1500]

A golden is right when its picture is that of the pair, or the very same picture. Times are those
of one process; the signatures are first made, then read again as a new process does it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
from pydantic import SecretStr

from backend.runs.detection import Target
from backend.settings import Settings
from backend.storage import files
from tests.benchmarks.golden import deeppcb
from workers.goldens import lookalikes
from workers.goldens.lookalikes import Lookalikes


def main() -> None:
    """Print the share found and the times."""
    options = argparse.ArgumentParser()
    options.add_argument("--boards", type=int, default=1500)
    count = options.parse_args().boards
    cv2.setNumThreads(1)
    with TemporaryDirectory() as home:
        look(Path(home), count)


def look(home: Path, count: int) -> None:
    """Find the golden of `count` boards, evenly taken from both splits."""
    settings = Settings(home=home, database_url=SecretStr(""))
    store = files.connect(settings)
    pairs = [*deeppcb.pairs("trainval"), *deeppcb.pairs("test")]
    goldens = [
        Target(at, pair.name, store.put(pair.golden.read_bytes()))
        for at, pair in enumerate(pairs, 1)
    ]
    print(f"{len(goldens):,} goldens, {len({one.sha256 for one in goldens}):,} different ones")
    for words in ("made", "read again"):
        alike, began = Lookalikes(store, settings), time.perf_counter()
        alike.learn(goldens)
        print(f"signatures {words} in {time.perf_counter() - began:.2f} s", flush=True)
    right, near, refused, times, work = 0, 0, 0, [], []
    chosen = list(zip(pairs, goldens, strict=True))[:: max(1, len(pairs) // count)][:count]
    for pair, own in chosen:
        board = cv2.imread(str(pair.board))
        began, used = time.perf_counter(), time.process_time()
        small = lookalikes.small(board)  # type: ignore[arg-type]
        found = alike.best(small, goldens)
        times.append(time.perf_counter() - began)
        work.append(time.process_time() - used)
        near += own.sha256 in {one.sha256 for one in alike.closest(small, goldens)}
        right += found is not None and found.sha256 == own.sha256
        refused += found is None
    print(
        f"{len(chosen):,} boards: {right / len(chosen):.2%} right, {refused} refused, "
        f"{near / len(chosen):.2%} among the {lookalikes.CLOSEST} that are laid on; "
        f"{statistics.median(times) * 1000:.0f} ms in the median, {max(times) * 1000:.0f} at most; "
        f"of the processor {statistics.median(work) * 1000:.0f}, {max(work) * 1000:.0f} at most"
    )


if __name__ == "__main__":
    main()
