"""Boards of 12,000×9,000 pixels in a real browser: from opening to a painted picture and tiles.

Run: python -m tests.benchmarks.labels.large_boards (about two minutes, 1 GB of memory)
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable

import cv2
import numpy as np
from playwright.sync_api import Browser, sync_playwright

from backend.labels import images, imports
from backend.previews import previews
from backend.projects import catalogue, classes
from backend.sample import boards
from backend.settings import Settings
from tests.benchmarks.labels.canvas_speed import serving
from tests.journeys import conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

WIDE, HIGH = 12_000, 9_000
ENDINGS = (".jpg", ".png")
OPEN = """async (id) => {
  const page = PAGE;
  const item = page.list.find((one) => one.id === id);
  const start = performance.now();
  await page.open(item);
  await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
  return performance.now() - start;
}"""
CLOSER = """async () => {
  const page = PAGE;
  const start = performance.now();
  page.stage.view.oneToOne();
  page.stage.redraw();
  const tile = () => [...page.pictures.kept.keys()].some((url) => url.includes("/tile/0/"));
  while (!tile()) await new Promise((r) => setTimeout(r, 10));
  return performance.now() - start;
}"""


def put(site: Site, name: str) -> list[int]:
    """Import two large boards, one a file format, and a small one to start from."""
    rng = np.random.default_rng(len(name))
    grey = np.asarray(next(iter(boards.draw(1, len(name)))).pixels)
    tile = np.repeat(grey[:, :, None], 3, 2) if grey.ndim == 2 else grey
    large = np.tile(tile, (15, 19, 1))[:HIGH, :WIDE].copy()
    cv2.add(large, rng.integers(0, 8, large.shape, np.uint8), large)
    folder = site.home / "boards" / name
    folder.mkdir(parents=True)
    (folder / "0.png").write_bytes(_encoded(".png", tile))
    for ending in ENDINGS:
        (folder / f"1{ending}").write_bytes(_encoded(ending, large))
    began = time.monotonic()
    into = imports.Into(site.database, site.files, name, "bench")
    imports.run(into, folder, Settings(home=site.home))
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"{name}: {size:.0f} MB imported in {time.monotonic() - began:.1f} s")
    names = ["0.png", *(f"1{ending}" for ending in ENDINGS)]
    with site.database.write.begin() as session:
        project = catalogue.find(session, name)
        classes.ensure(session, project.id, "short")
        found = images.ids(session, project.id, names)
    return [found[one] for one in names]


def cold(browser: Browser, site: Site) -> None:
    """The address of a board that nobody has seen since it was imported is opened."""
    by_address(browser, site, "never seen", put(site, "never seen"))


def by_address(browser: Browser, site: Site, name: str, ids: list[int]) -> None:
    """From the address to the painted picture, in a browser that was here before."""
    for ending, image in zip(ENDINGS, ids[1:], strict=True):
        hands = Hands(browser.new_page(bypass_csp=True), site)
        began = time.monotonic()
        hands.open(name, image)
        print(f"{ending} by its address, {name}: {1000 * (time.monotonic() - began):.0f} ms")
        hands.page.close()


def dropped(browser: Browser, site: Site) -> None:
    """The same, where the cache has lost the previews that the import has made."""
    ids = put(site, "dropped")
    shutil.rmtree(previews.home(Settings(home=site.home)))
    by_address(browser, site, "dropped", ids)


def listed(browser: Browser, site: Site) -> None:
    """The board stood in a list before, as after an import; then a second person looks."""
    ids = put(site, "listed")
    page = browser.new_page(bypass_csp=True)
    page.goto(f"{site.url}/?project=listed&tab=browse")
    _wait(lambda: page.locator(".cell img").count() == 3)
    page.wait_for_function("[...document.querySelectorAll('.cell img')].every(i => i.naturalWidth)")
    page.close()
    for who in ("first", "second"):
        hands = Hands(browser.new_page(bypass_csp=True), site)
        hands.open("listed", ids[0])
        for ending, image in zip(ENDINGS, ids[1:], strict=True):
            hands.page.wait_for_function(f"!{hands.js}.pictures.coming.size")
            hands.page.evaluate(f"{hands.js}.pictures.kept.clear()")
            opened = hands.page.evaluate(OPEN.replace("PAGE", hands.js), image)
            closer = hands.page.evaluate(CLOSER.replace("PAGE", hands.js))
            print(f"{ending}, {who} person: open {opened:.0f} ms, 1:1 sharp {closer:.0f} ms")
        hands.page.close()


def _encoded(ending: str, pixels: object) -> bytes:
    return bytes(cv2.imencode(ending, pixels)[1])  # type: ignore[call-overload]


def _wait(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        time.sleep(0.05)


def main() -> None:
    """Print all figures; wanted: open within 1,000 ms."""
    with serving() as site, sync_playwright() as playwright:
        path = conftest.chromium(whole=True)
        browser = playwright.chromium.launch(executable_path=path, args=conftest.ARGUMENTS)
        listed(browser, site)
        cold(browser, site)
        dropped(browser, site)
        browser.close()


if __name__ == "__main__":
    main()
