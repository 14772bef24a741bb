"""How quick the canvas is: image switch, save, overlay with 1,000 boxes, first load.

`python -m tests.benchmarks.labels.canvas_speed` (about two minutes; needs
Chromium); `--keep` writes the figures as data, too.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import Page, sync_playwright

from backend.domain import Box, Task
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.settings import Settings
from backend.storage import engine, files
from tests.benchmarks import results
from tests.journeys import boards, conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

SIZES = {"640²": (640, 640), "6000×4000": (6000, 4000)}
TARGETS = {"640²": (40, 90), "6000×4000": (60, 150)}
IMAGES = 14

# Opens the next image when it is decoded ahead, and waits for the frame after the draw.
SWITCH = """async () => {
  const page = PAGE;
  const item = page.list[page.at + 1];
  const url = `/files/${item.sha256}/preview`;
  const wait = (ms) => new Promise((r) => setTimeout(r, ms));
  for (let n = 0; n < 400 && !page.pictures.peek(url); n++) await wait(25);
  await wait(150);
  const start = performance.now();
  page.open(item);
  await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
  return performance.now() - start;
}"""
DRAW = """() => {
  const page = PAGE;
  const start = performance.now();
  for (let n = 0; n < 30; n++) {
    page.stage.drawOverlay();
    page.stage.context(page.stage.above).getImageData(0, 0, 1, 1);
    page.stage.drawOverlay();
  }
  return (performance.now() - start) / 60;
}"""
SAVE = """async () => {
  const page = PAGE;
  const times = [];
  for (let n = 0; n < 60; n++) {
    const start = performance.now();
    page.desk.draw({ x1: 10 + n, y1: 10, x2: 40 + n, y2: 40 });
    await new Promise((r) => page.saver.addEventListener("saved", r, { once: true }));
    times.push(performance.now() - start);
  }
  return times;
}"""


def put(site: Site, name: str, width: int, height: int) -> int:
    """A project of noisy pictures of that size; returns its first image."""
    rng = np.random.default_rng(1)
    small = rng.integers(0, 255, (height // 8, width // 8, 3), np.uint8)
    new = []
    for number in range(IMAGES):
        picture = cv2.resize(np.roll(small, number * 7, 1), (width, height))
        ok, jpeg = cv2.imencode(".jpg", picture)
        assert ok
        sha256 = site.files.put(jpeg.tobytes())
        new.append(NewImage(f"{number:03}", sha256, width, height))
    with site.database.write.begin() as session:
        project = catalogue.create(session, name, Task.DETECT)
        for label in boards.boards.CLASSES:  # type: ignore[attr-defined]
            classes.ensure(session, project.id, label)
        images.add(session, project.id, new, "")
        return images.find(session, project.id, "000").id


def crowd(site: Site, image: int, count: int) -> None:
    """Put many boxes on an image."""
    rng = np.random.default_rng(2)
    corners = rng.uniform(0, 600, (count, 2))
    some = [Box(x, y, x + 30, y + 24, "open") for x, y in corners.tolist()]
    with site.database.write.begin() as session:
        labelling.save(session, image, labelling.version_of(session, image), some, "bench")


@contextmanager
def serving() -> Iterator[Site]:
    """A site in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        url, process = conftest.start(home, "--no-worker")
        settings = Settings(home=home)
        database = engine.connect(settings)
        try:
            yield Site(home, url, process, database, files.connect(settings))
        finally:
            database.close()
            conftest.stop(process)


def say(what: str, times: list[float], target: str) -> results.Figure:
    """Print p50 and p95."""
    low, high = np.percentile(times, [50, 95])
    print(f"{what:42} p50 {low:7.1f} ms   p95 {high:7.1f} ms   (wanted {target} ms)")
    how = f"Chromium beside the server, {results.machine()}"
    return results.Figure(f"{what}: p50", round(low, 1), "ms", f"p95 {high:.1f}", how=how)


def switch(page: Page, site: Site) -> Iterator[results.Figure]:
    """Turn pages that are decoded ahead."""
    for name, (width, height) in SIZES.items():
        hands = Hands(page, site)
        hands.open(f"speed {name}", put(site, f"speed {name}", width, height))
        times = [page.evaluate(SWITCH.replace("PAGE", hands.js)) for _ in range(IMAGES - 2)]
        yield say(f"image switch {name}, prefetched", times, "{} / {}".format(*TARGETS[name]))


def overlay_and_save(page: Page, site: Site) -> Iterator[results.Figure]:
    """Redraw 1,000 boxes, then save one box after another on an empty image."""
    hands = Hands(page, site)
    first = put(site, "speed boxes", 640, 640)
    for count in (1000, 5000):
        crowd(site, first, count)
        hands.open("speed boxes", first)
        times = [page.evaluate(DRAW.replace("PAGE", hands.js)) for _ in range(10)]
        yield say(f"overlay with {count:,} boxes", times, "16" if count == 1000 else "–")
    hands.open("speed boxes", first + 1)
    yield say("save, change to answer", page.evaluate(SAVE.replace("PAGE", hands.js)), "10 / 30")


def load(page: Page, site: Site) -> Iterator[results.Figure]:
    """First load of Annotate, from an empty browser, to a painted picture."""
    times = []
    for _ in range(5):
        context = page.context.browser.new_context(bypass_csp=True)  # type: ignore[union-attr]
        hands = Hands(context.new_page(), site)
        hands.open("speed 640²")
        times.append(hands.page.evaluate("performance.now()"))
        context.close()
    yield say("first load to a painted picture", times, "1500")


def main() -> None:
    """Print all figures."""
    with serving() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=conftest.chromium(whole=True), args=conftest.ARGUMENTS
        )
        page = browser.new_page(bypass_csp=True, viewport={"width": 1440, "height": 900})
        parts = (switch, overlay_and_save, load)
        rows = [row for part in parts for row in part(page, site)]
        browser.close()
    if results.wanted(sys.argv):
        results.keep("canvas_speed", rows)


if __name__ == "__main__":
    main()
