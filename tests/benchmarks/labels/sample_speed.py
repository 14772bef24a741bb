"""How many sample pictures a second one core draws.

`python -m tests.benchmarks.labels.sample_speed`; `--keep` writes the figures as data, too.
"""

from __future__ import annotations

import sys
import time

import cv2

from backend import sample
from tests.benchmarks import results

IMAGES = 120


def main() -> None:
    cv2.setNumThreads(1)
    rows = []
    how = f"{IMAGES} pictures, one thread by processor seconds"
    for kind, look in (("pcb", "binary"), ("pcb", "colour"), ("mask", "binary")):
        taken = sorted(_seconds(kind, look) for _ in range(3))
        best, worst = taken[0], taken[-1]
        name = f"{kind}, {look}" if kind == "pcb" else kind
        print(f"{name:14} {IMAGES / best:6.1f} pictures a second, goldens included")
        spread = f"best of three; worst {IMAGES / worst:.1f}"
        rows.append(results.Figure(name, round(IMAGES / best, 1), "pictures/s", spread, how=how))
    if results.wanted(sys.argv):
        results.keep("sample_speed", rows)


def _seconds(kind: str, look: str) -> float:
    start = time.process_time()
    for _ in sample.draw(kind, IMAGES, seed=1, look=look):
        pass
    return time.process_time() - start


if __name__ == "__main__":
    main()
