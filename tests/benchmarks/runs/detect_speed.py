"""How fast pictures go through Loupe, through Ultralytics, and through the bare graph: one table.

`python -m tests.benchmarks.runs.detect_speed [--images 4952] [--rows NAME …] [--keep]`
Every row is a process of its own, measured from its start until it says what it has done; for
Loupe that includes imports, compilation, reading, decoding, the boxes of each picture and their
committed rows. The model is prepared once before (its time is printed), as it is kept beside the
weights.

The bare graph is the one that runs use; the whole one decodes all boxes worth it, as everybody's
does, and is asked by a run for the crowded picture in a hundred.

Slow rows look at a part of the pictures; what all would take is their start once, and the rest at
the pace of that part. That is how a long run goes, and kinder to them than their own average.

On a machine that others use, too, the clock tells little. So the table also says how much of the
cores' time a picture took, and how many pictures a second two free cores would do at that.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests import real_data
from tests.benchmarks import results
from tests.benchmarks.runs import detect_pictures, detect_rows

CORES = 2
PREPARED = ("bf16", "int8")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what runs, and on what share of the pictures (slow ones on fewer)."""

    title: str
    call: str
    share: float = 1.0
    accuracy: tuple[str, str] | None = None


ROWS = {
    "bf16": Row("Loupe bf16", "loupe:bf16", accuracy=("openvino", "bf16")),
    "int8": Row("Loupe int8", "loupe:int8", accuracy=("openvino", "int8")),
    "ray-bf16": Row("Loupe bf16, warm Ray", "ray:bf16"),
    "ray-int8": Row("Loupe int8, warm Ray", "ray:int8"),
    "limit-bf16": Row("bare graph bf16 at 640×480", "limit:bf16"),
    "limit-int8": Row("bare graph int8 at 640×480", "limit:int8"),
    "whole-bf16": Row("the whole graph bf16, bare", "limit-whole:bf16"),
    "whole-int8": Row("the whole graph int8, bare", "limit-whole:int8"),
    "ultralytics": Row("ultralytics predict", "ultralytics:0", 0.04),
    "ultralytics-cores": Row("ultralytics predict, all cores", "ultralytics:2", 0.04),
    "ultralytics-int8": Row("its int8 OpenVINO export", "ultralytics-int8:0", 0.1),
    "torch": Row("Loupe on plain torch", "loupe:torch", 0.1, ("torch", "f32")),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds on the clock and of the cores, for so many pictures."""

    images: int
    seconds: float
    core_seconds: float

    @property
    def rate(self) -> float:
        """Pictures a second by the clock."""
        return self.images / self.seconds

    @property
    def free_rate(self) -> float:
        """Pictures a second that two free cores would do."""
        return self.images * CORES / self.core_seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=4952)
    parser.add_argument("--rows", nargs="*", default=list(ROWS))
    parser.add_argument("--no-accuracy", action="store_true")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="loupe-speed-"))
    pictures = detect_pictures.voc(asked.images)
    weights = real_data.weights() / "yolo11n_recovered.pt"
    print(f"{asked.images:,} pictures of VOC size on {os.cpu_count()} cores, {_load()}")
    for precision in PREPARED:
        began = time.perf_counter()
        detect_rows.prepared(precision, weights)
        print(f"prepared {precision} in {time.perf_counter() - began:.1f} s, once for all runs")
    print(f"{'':32}{'images/s':>10}{'ms of a core':>14}{'two free cores':>16}{'mAP50-95':>10}")
    how = f"{asked.images:,} pictures of VOC size, {results.machine()}"
    rows = []
    for name in asked.rows:
        measured = _print(ROWS[name], asked.images, pictures, home, not asked.no_accuracy)
        rows.append(_figure(ROWS[name].title, measured, how))
    print(_load())
    if asked.keep:
        results.keep("detect_speed", rows)


def _figure(title: str, measured: Measured, how: str) -> results.Figure:
    spread = f"two free cores would do {measured.free_rate:.1f}"
    return results.Figure(title, round(measured.rate, 1), "images/s", spread, how=how)


def _print(row: Row, images: int, pictures: Path, home: Path, accuracy: bool) -> Measured:
    count = max(int(images * row.share), 16)
    measured = _measure(row, count, pictures, home)
    worth = ""
    if accuracy and row.accuracy:
        worth = f"{detect_rows.accuracy(*row.accuracy):10.4f}"
    print(
        f"{row.title:32}{measured.rate:10.1f}{1000 * measured.core_seconds / measured.images:14.2f}"
        f"{measured.free_rate:16.1f}{worth}",
        flush=True,
    )
    return measured


def _measure(row: Row, count: int, pictures: Path, home: Path) -> Measured:
    with detect_rows.cluster_for(row.call) as environment:
        before = _core_seconds()
        began = time.perf_counter()
        command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.runs.detect_rows"]
        arguments = [row.call, str(pictures), str(count), str(home)]
        with subprocess.Popen(
            [*command, *arguments],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            lines = [(time.perf_counter() - began, line) for line in process.stdout or ()]
        if process.returncode:
            raise SystemExit(f"{row.title} failed.")
        used = _core_seconds() - before
    seconds, last = lines[-1]
    told = [float(word) for word in last.split()]
    if row.call.startswith("limit"):  # it says itself what it did, without its start
        return Measured(int(told[0]), told[1], told[2])
    assert told[0] == count, last
    if len(told) == 4:
        more = (count / row.share - count) / (count - 1)
        return Measured(round(count / row.share), seconds + more * told[2], used + more * told[3])
    return Measured(count, seconds, used + told[1])  # of processes that we have not waited for


def _core_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _load() -> str:
    return f"load of the machine {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
