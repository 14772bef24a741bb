"""How fast pictures come in, and in how much memory.

`python -m tests.benchmarks.labels.import_speed`
Every picture has bytes of its own, labels with three boxes, and is decoded to its end.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import cv2

from backend import sample
from backend.formats import format_table
from backend.labels import exports, imports
from backend.settings import Settings
from backend.storage import engine
from backend.storage.files import Files

LABELS = "0 0.5 0.5 0.25 0.5\n1 0.25 0.25 0.25 0.25\n1 0.1 0.9 0.05 0.05\n"
BASES = 16


@dataclass(frozen=True)
class Measured:
    """What one import or export took, in a process of its own."""

    images: int
    wall: float
    cpu: float
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, nargs="*", default=[2_000, 20_000])
    parser.add_argument("--side", type=int, default=640, help="pixels of a picture's side")
    parser.add_argument("--formats", nargs="*", default=["yolo", "coco", "voc", "deeppcb"])
    chosen = parser.parse_args()
    for count in chosen.images:
        with tempfile.TemporaryDirectory() as folder:
            size = lay(Path(folder) / "in", count, chosen.side)
            print(f"{count:,} JPEGs of {chosen.side}² pixels, {size / count / 1000:.0f} kB each")
            run(Path(folder), chosen.formats)


def run(folder: Path, formats: list[str]) -> None:
    """Import, import again, then out and in by each format."""
    say("import", apart(bring, folder, folder / "in", "first"))
    say("import again", apart(bring, folder, folder / "in", "first"))
    for name in formats:
        out = folder / name
        say(f"export {name}", apart(take, folder, out, name))
        say(f"import {name}", apart(bring, folder, out, name))
        shutil.rmtree(out)


def lay(folder: Path, count: int, side: int) -> int:
    """Write pictures that differ by a comment in their header, with labels."""
    drawn = [one for one in sample.draw("pcb", BASES, seed=1) if not one.is_golden]
    bases = [
        cv2.imencode(".jpg", cv2.resize(one.pixels, (side, side)))[1].tobytes() for one in drawn
    ]
    size = 0
    for number in range(count):
        base = bases[number % len(bases)]
        content = base[:2] + b"\xff\xfe\x00\x0a" + f"{number:08d}".encode() + base[2:]
        place = f"{number % 100:02d}/{number:08d}"
        for name, data in ((f"images/{place}.jpg", content), (f"labels/{place}.txt", LABELS)):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        size += len(content)
    (folder / "data.yaml").write_text("train: images\nval: images\nnames: [open, short]\n")
    return size


def bring(folder: Path, source: Path, project: str) -> int:
    """Import; the number of pictures seen."""
    database, files = house(folder)
    into = imports.Into(database, files, project, "bench")
    result = imports.run(into, source, Settings(home=folder / "home"))
    return result.images + result.skipped


def take(folder: Path, out: Path, name: str) -> int:
    """Export; the number of pictures written."""
    database, files = house(folder)
    with database.read.begin() as session:
        return exports.run(session, files, "first", out, format_table.find(name).name).images


def house(folder: Path) -> tuple[engine.Database, Files]:
    database = engine.open_url(f"sqlite:///{folder / 'loupe.db'}")
    engine.create_tables(database)
    return database, Files(str(folder / "files"), folder / "cache")


def apart(work: object, *arguments: object) -> Measured:
    """Run in a fresh process, so that its peak of memory is its own."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe(duplex=False)
    child = spawn.Process(target=_measure, args=(theirs, work, *arguments))
    child.start()
    measured = ours.recv()
    child.join()
    assert isinstance(measured, Measured)
    return measured


def _measure(told, work, *arguments) -> None:  # type: ignore[no-untyped-def]
    start, cpu = time.perf_counter(), time.process_time()
    images = work(*arguments)
    used = time.process_time() - cpu
    told.send(Measured(images, time.perf_counter() - start, used, _peak_mb()))


def _peak_mb() -> float:
    """The most memory this program has held; getrusage would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def say(what: str, measured: Measured) -> None:
    per_core = measured.images / measured.cpu
    print(
        f"  {what:16} {measured.images / measured.wall:7.0f} images/s by the clock, "
        f"{per_core:6.0f} per second of processor, {measured.peak_mb:4.0f} MB at most",
        flush=True,
    )


if __name__ == "__main__":
    main()
