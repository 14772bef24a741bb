"""How many sample pictures a second one core draws: `python -m tests.benchmarks.sample_speed`."""

from __future__ import annotations

import time

import cv2

from backend import sample

IMAGES = 120


def main() -> None:
    cv2.setNumThreads(1)
    for kind, look in (("pcb", "binary"), ("pcb", "colour"), ("mask", "binary")):
        best = min(_seconds(kind, look) for _ in range(3))
        name = f"{kind}, {look}" if kind == "pcb" else kind
        print(f"{name:14} {IMAGES / best:6.1f} pictures a second, goldens included")


def _seconds(kind: str, look: str) -> float:
    start = time.process_time()
    for _ in sample.draw(kind, IMAGES, seed=1, look=look):
        pass
    return time.process_time() - start


if __name__ == "__main__":
    main()
