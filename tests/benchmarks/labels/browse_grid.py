"""Browse over 100,000 images in a real browser: first load, jumps to random places, memory.

Run: python -m tests.benchmarks.labels.browse_grid [IMAGES]
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import psutil
from playwright.sync_api import Page, sync_playwright

from backend import sample
from backend.domain import Project
from backend.labels import images
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine, files, schema
from backend.storage.engine import Database
from backend.storage.files import Files
from tests.journeys import conftest

PICTURES = 3_000
JUMPS = 40
PAINTED = """(top) => new Promise((done) => {
  const wall = document.querySelector('.wall-scroll');
  const start = performance.now();
  if (top !== null) wall.scrollTop = top;
  const seen = () => {
    const view = wall.getBoundingClientRect();
    const cells = [...wall.querySelectorAll('.cell')].filter((cell) => {
      const at = cell.getBoundingClientRect();
      return at.bottom > view.top && at.top < view.bottom;
    });
    const ready = (cell) => { const img = cell.querySelector('img'); return img && img.complete && img.naturalWidth > 0; };
    if (cells.length > 0 && cells.every(ready)) done([performance.now() - start, cells.length]);
    else requestAnimationFrame(seen);
  };
  requestAnimationFrame(() => requestAnimationFrame(seen));
})"""  # noqa: E501


def main() -> None:
    """Print p50 and p95 of each figure."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    home = Path(tempfile.mkdtemp(prefix="loupe-grid-"))
    try:
        project = fill(home, total)
        url, process = conftest.start(home, "--no-worker")
        try:
            measure(url, project, psutil.Process(process.pid))
        finally:
            conftest.stop(process)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def fill(home: Path, total: int) -> Project:
    """A project of many images over fewer pictures, each with a few boxes."""
    settings = Settings(home=home)
    database, store = engine.connect(settings), files.connect(settings)
    schema.prepare(database)
    pictures = list(_pictures(store))
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", classes=sample.CLASSES["pcb"])
    began = time.monotonic()
    for start in range(0, total, 5_000):
        _add(database, project, pictures, range(start, min(total, start + 5_000)))
    print(f"{total:,} images over {PICTURES:,} pictures in {time.monotonic() - began:.1f} s")
    database.close()
    return project


def measure(url: str, project: Project, server: psutil.Process) -> None:
    """First load, then jumps to places never seen, then to places seen before."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=conftest.chromium(), args=conftest.ARGUMENTS
        )
        page = browser.new_page(bypass_csp=True, viewport={"width": 1440, "height": 900})
        address = f"{url}/?project={project.id}&tab=browse"
        loads = [_load(page, address) for _ in range(6)]
        _say("first load, all visible thumbnails (first: cold)", loads[:1])
        _say("load again", loads[1:])
        height = page.evaluate("document.querySelector('.wall-scroll').scrollHeight")
        chance = random.Random(1)
        tops = [chance.randrange(height) for _ in range(JUMPS)]
        cold = [page.evaluate(PAINTED, top) for top in tops]
        warm = [page.evaluate(PAINTED, top + 3000) for top in tops]
        _say(f"jump to a random place, {cold[0][1]} thumbnails, unseen", [one[0] for one in cold])
        _say("jump near places seen before", [one[0] for one in warm])
        browser.close()
    memory = [server, *server.children(recursive=True)]
    sizes = [f"{one.memory_info().rss / 1e6:.0f} MB" for one in memory]
    print(f"memory of the server and its two picture processes: {', '.join(sizes)}")


def _load(page: Page, address: str) -> float:
    began = time.monotonic()
    page.goto(address)
    page.wait_for_selector(".cell img")
    page.evaluate(PAINTED, None)
    return 1000 * (time.monotonic() - began)


def _pictures(store: Files) -> Sequence[tuple[str, sample.Drawn]]:
    drawn = [one for one in sample.draw("pcb", 60, 1) if not one.is_golden]
    kept = []
    for number in range(PICTURES):
        one = drawn[number % len(drawn)]
        pixels = np.roll(one.pixels, number // len(drawn), axis=1)
        content = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()
        kept.append((store.put(content), one))
    return kept


def _add(
    database: Database,
    project: Project,
    pictures: Sequence[tuple[str, sample.Drawn]],
    numbers: range,
) -> None:
    new = []
    for number in numbers:
        sha256, one = pictures[number * 7919 % len(pictures)]
        name = f"lot-{number // 500:03d}/board-{number:06d}.jpg"
        group = f"lot-{number // 500:03d}"
        new.append(
            images.NewImage(name, sha256, 640, 640, one.boxes, group=group, labelled=number % 3 > 0)
        )
    with database.write.begin() as session:
        images.add(session, project.id, new, "benchmark")


def _say(words: str, milliseconds: Sequence[float]) -> None:
    ranked = sorted(milliseconds)
    p95 = ranked[min(len(ranked) - 1, round(0.95 * len(ranked)))]
    print(f"{words}: p50 {statistics.median(ranked):.0f} ms, p95 {p95:.0f} ms (n={len(ranked)})")


if __name__ == "__main__":
    main()
