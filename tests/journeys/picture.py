"""Take the README's picture anew: `python -m tests.journeys.picture` writes assets/annotate.png."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect
from playwright.sync_api import sync_playwright as playwright_of

from app import assets
from backend.settings import Settings
from backend.storage import engine, files
from tests.journeys import boards, conftest
from tests.journeys.conftest import Site

TARGET = assets.FOLDER / "annotate.png"
SIZE = (1440, 900)


def main() -> None:
    """Serve drawn boards from a home of its own, accept two proposals, take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        url, process = conftest.start(home, "--no-worker")
        database = engine.connect(Settings(home=home))
        try:
            site = Site(home, url, process, database, files.connect(Settings(home=home)))
            made = boards.put(site, "sample-boards", 12)
            boards.detect(site, made, 1)
            with playwright_of() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=conftest.chromium(whole=True), args=conftest.ARGUMENTS
                )
                page = browser.new_page(
                    bypass_csp=True, viewport={"width": SIZE[0], "height": SIZE[1]}
                )
                _label(page, f"{url}/?project={made.project.id}&tab=annotate&image={made.ids[4]}")
                page.screenshot(path=TARGET)
                browser.close()
        finally:
            database.close()
            conftest.stop(process)


def _label(page: Page, address: str) -> None:
    page.goto(address)
    page.locator(".lp-row").first.wait_for()
    page.locator("canvas.lp-picture:not(.waiting)").wait_for()
    page.keyboard.press("a")
    page.keyboard.press("a")
    expect(page.locator(".lp-saved")).to_have_text("Saved")
    page.keyboard.press("Escape")


if __name__ == "__main__":
    main()
