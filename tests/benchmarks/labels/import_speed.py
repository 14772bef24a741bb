"""How fast pictures come in, and in how much memory.

`python -m tests.benchmarks.labels.import_speed`; `--keep` writes the figures as data, too.
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
from tests.benchmarks import results

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
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    figures: list[results.Figure] = []
    for count in chosen.images:
        with tempfile.TemporaryDirectory() as folder:
            size = lay(Path(folder) / "in", count, chosen.side)
            print(f"{count:,} JPEGs of {chosen.side}² pixels, {size / count / 1000:.0f} kB each")
            how = f"{count:,} JPEGs of {chosen.side}² pixels, by the clock"
            done = run(Path(folder), chosen.formats)
            figures += [figure(what, one, how) for what, one in done]
    if chosen.keep:
        results.keep("import_speed", figures)


def run(folder: Path, formats: list[str]) -> list[tuple[str, Measured]]:
    """Import, import again, then out and in by each format."""
    source = folder / "in"
    done = [say(what, apart(bring, folder, source, "first")) for what in ("import", "import again")]
    for name in formats:
        out = folder / name
        done.append(say(f"export {name}", apart(take, folder, out, name)))
        done.append(say(f"import {name}", apart(bring, folder, out, name)))
        shutil.rmtree(out)
    return done


def figure(what: str, measured: Measured, how: str) -> results.Figure:
    """What is kept of it."""
    per_core = f"{measured.images / measured.cpu:.0f} per second of processor"
    spread = f"{per_core}, {measured.peak_mb:.0f} MB at most"
    rate = round(measured.images / measured.wall)
    return results.Figure(what, rate, "images/s", spread, how=how)


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


def say(what: str, measured: Measured) -> tuple[str, Measured]:
    """Print it."""
    per_core = measured.images / measured.cpu
    print(
        f"  {what:16} {measured.images / measured.wall:7.0f} images/s by the clock, "
        f"{per_core:6.0f} per second of processor, {measured.peak_mb:4.0f} MB at most",
        flush=True,
    )
    return what, measured


if __name__ == "__main__":
    main()
