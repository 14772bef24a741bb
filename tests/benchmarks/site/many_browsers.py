"""Twenty browsers label at once on one server, which is then killed and started again under them.

They are twenty contexts of one Chromium, each with its own storage, cookies and connections; all
run on the machine of the server.

Run: python -m tests.benchmarks.site.many_browsers [BROWSERS SECONDS]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from backend.labels import images, labelling, samples
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine, files, schema
from tests.journeys import conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import PAGE

EACH = 10
# Draws a box now and then, turns the page now and then, and notes when each box was on the server.
LABEL = """(seconds) => {
  const page = PAGE;
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const told = (window.told = { drawn: [], saved: [], times: [], working: true });
  const began = new Map();
  page.saver.addEventListener("saved", ({ detail }) => detail.sheet.boxes.forEach(({ id }) => {
    if (!began.has(id)) return;
    told.times.push(performance.now() - began.get(id));
    told.saved.push(id);
    began.delete(id);
  }));
  const work = async () => {
    for (const end = performance.now() + 1000 * seconds; performance.now() < end;) {
      await wait(500 + 1000 * Math.random());
      const x = 500 * Math.random();
      const start = performance.now();
      page.desk.draw({ x1: x, y1: x, x2: x + 40, y2: x + 40 });
      const { id } = page.desk.sheet.boxes.at(-1);
      began.set(id, start);
      told.drawn.push(id);
      if (Math.random() < 0.3) await page.step(page.at + 1 < page.list.length ? 1 : -1);
    }
    told.working = false;
  };
  work();
}"""


def fill(home: Path, browsers: int) -> Site:
    """A project in which each person has a lot of images."""
    settings = Settings(home=home)
    database, store = engine.connect(settings), files.connect(settings)
    schema.prepare(database)
    drawn = [one for one in samples.draw(store, "pcb", 60, 1) if not one.is_golden]
    new = [
        images.NewImage(f"{n:04d}", drawn[n % len(drawn)].sha256, 640, 640, group=f"lot{n // EACH}")
        for n in range(EACH * browsers)
    ]
    with database.write.begin() as session:
        project = catalogue.create(session, "boards", classes=["short"])
        images.add(session, project.id, new, "benchmark")
    url, process = conftest.start(home, "--no-worker")
    return Site(home, url, process, database, store)


def enter(browser: Browser, site: Site, number: int) -> Page:
    """One person's own browser, at their first image."""
    page = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 720}).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{site.url}/?project=boards&tab=annotate&group=lot{number}")
    page.wait_for_selector("#shell-annotate .shell:not([aria-busy])")
    shell = PAGE.format(name="annotate")
    page.wait_for_function(f"{shell}?.desk.item && {shell}.pictures.kept.size > 0")
    return page


def label(pages: Sequence[Page], seconds: float) -> None:
    """Set all of them to work; returns at once."""
    for page in pages:
        page.evaluate(LABEL.replace("PAGE", PAGE.format(name="annotate")), seconds)


def settle(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """What each was told, once it has stopped and nothing waits to be sent."""
    saver = f"{PAGE.format(name='annotate')}.saver"
    for page in pages:
        page.wait_for_function(f"!window.told.working && !{saver}.entries.size")
    return [page.evaluate("window.told") for page in pages]


def stored(site: Site) -> set[str]:
    """The ids of all boxes that stand in the database."""
    with site.database.read.begin() as session:
        ids = range(1, 1 + len(images.ids(session, 1, [f"{n:04d}" for n in range(10_000)])))
        return {box.id for boxes in labelling.boxes_of(session, ids).values() for box in boxes}


def measure(site: Site, browser: Browser, browsers: int, seconds: float) -> None:
    """Work in peace, then with a server that is killed."""
    pages = [enter(browser, site, number) for number in range(browsers)]
    label(pages, seconds)
    told = settle(pages)
    times = [ms for one in told for ms in one["times"]]
    p50, p95 = np.percentile(times, [50, 95])
    lost = {id_ for one in told for id_ in one["drawn"]} - stored(site)
    memory = psutil.Process(site.process.pid).memory_info().rss / 1e6
    print(f"{browsers} browsers, {len(times) / seconds:.0f} saves/s; change to answer, seen there:")
    print(f"p50 {p50:.0f} ms, p95 {p95:.0f} ms (wanted < 150); {len(lost)} edits lost")
    print(f"memory of the server process: {memory:.0f} MB (wanted < 500)")
    label(pages, 20)
    time.sleep(6)
    site.process.kill()
    site.process.wait()
    there = stored(site)
    shown = {id_ for page in pages for id_ in page.evaluate("window.told.saved")}
    port = site.url.rsplit(":", 1)[1]
    _, site.process = conftest.start(site.home, "--no-worker", "--port", port)
    drawn = {id_ for one in settle(pages) for id_ in one["drawn"]}
    print(f"killed: of {len(shown)} edits shown as saved {len(shown - there)} are not there")
    print(f"started again: of {len(drawn)} edits {len(drawn - stored(site))} never arrived")


def main() -> None:
    """Print p50 and p95 of a save, the memory of the server, and what was lost."""
    browsers = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
    home = Path(tempfile.mkdtemp(prefix="loupe-browsers-"))
    site = fill(home, browsers)
    try:
        with sync_playwright() as playwright:
            path = conftest.chromium()
            browser = playwright.chromium.launch(executable_path=path, args=conftest.ARGUMENTS)
            measure(site, browser, browsers, seconds)
            browser.close()
    finally:
        conftest.stop(site.process)
        site.database.close()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
