"""A real server in a process of its own, and a real browser whose every complaint is a failure."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect
from playwright.sync_api import sync_playwright as playwright_of

from backend.domain import Project
from backend.labels import samples
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage import engine, files
from backend.storage.engine import Database
from backend.storage.files import Files
from tests import overhearing, serving, warmed
from tests.homes import checked
from tests.warmed import Warmed

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 300
ASKED = "asked.txt"  # in the home: whom else the site wanted to speak to
# A machine that does other things beside may be slow; what is checked is what comes, not when.
expect.set_options(timeout=60_000)


@dataclass
class Site:
    """A served Loupe; tests look behind it through `database` and `files`."""

    home: Path
    url: str
    process: Warmed
    database: Database
    files: Files
    made: int = field(default=0)

    def project(self, kind: str = "pcb", images: int = 6, name: str = "") -> Project:
        """A new project of drawn pictures, for one test alone."""
        self.made += 1
        drawn = samples.draw(self.files, kind, images, seed=self.made)
        with self.database.write.begin() as session:
            return samples.create(session, name or f"project {self.made}", kind, drawn)

    def classes(self, project: Project) -> list[str]:
        """The names of a project's classes as they stand now."""
        with self.database.read.begin() as session:
            return [one.name for one in catalogue.get(session, project.id).classes]


def chromium(whole: bool = False) -> str:
    """Debian's Chromium, or a skip that says so.

    Its shell without windows shows pages at less than half of the cost; figures are those of the
    whole one, which people have.
    """
    names = ("chromium",) if whole else ("chromium-headless-shell", "chromium")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("Chromium is not installed.")
    return found


def start(home: Path, *arguments: str) -> tuple[str, Warmed]:
    """Serve a home folder; returns when the site answers."""
    said = home / "serve.log"
    home.mkdir(parents=True, exist_ok=True)
    words = ["serve", "--port", "0", "--no-browser", "--no-sample", *arguments]
    environment = overhearing.environment(home / ASKED)
    environment |= {"LOUPE_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    with said.open("wb") as log:
        process = warmed.start(words, environment, log.fileno(), log.fileno())
    return _wait(said, process), process


def stop(process: Warmed) -> None:
    """Ask the server to end, and see it end."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def served(home: Path, *arguments: str) -> Iterator[Site]:
    """A home folder's site, until the test is over."""
    chromium()
    url, process = start(home, *arguments)
    settings = Settings(home=home)
    database = engine.connect(settings)
    try:
        store = files.connect(settings)
        yield Site(home, url, process, database, store)
        checked.whole(database, store)
    finally:
        database.close()
        stop(process)
    assert overhearing.heard(home / ASKED) == []


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One server for all journeys; each test makes its own project."""
    with served(tmp_path_factory.mktemp("home"), "--no-worker") as started:
        yield started


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all journeys."""
    path = chromium()
    with playwright_of() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A fresh profile at 1280×720, with the site as its base address.

    Its pages may evaluate text, as `wait_for_function` does; test_policy.py holds them to the
    policy, which forbids that.
    """
    opened = browser.new_context(
        bypass_csp=True, base_url=site.url, viewport={"width": 1280, "height": 720}
    )
    opened.set_default_timeout(60_000)
    yield opened
    opened.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the page complained of; a test that provokes a refusal expects it here."""
    return []


@pytest.fixture
def page(context: BrowserContext, site: Site, complaints: list[str]) -> Iterator[Page]:
    """A page; an error on its console or a request to another host fails the test."""
    opened = context.new_page()
    watch(opened, site.url, complaints)
    yield opened
    opened.close()
    assert complaints == []


@pytest.fixture(scope="module")
def tab(browser: Browser, site: Site) -> Iterator[Page]:
    """One page for all tests of a file, where each works on an image of its own."""
    with watched(browser, site, 1440, 900) as opened:
        yield opened


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of one's own whose queue no other journey fills, and no worker empties."""
    with served(tmp_path_factory.mktemp("idle"), "--no-worker") as started:
        yield started


@pytest.fixture
def desk(browser: Browser, idle: Site, complaints: list[str]) -> Iterator[Page]:
    """A page of the idle site."""
    context = browser.new_context(
        bypass_csp=True, base_url=idle.url, viewport={"width": 1280, "height": 720}
    )
    context.set_default_timeout(60_000)
    opened = context.new_page()
    watch(opened, idle.url, complaints)
    yield opened
    context.close()
    assert complaints == []


@contextmanager
def watched(browser: Browser, site: Site, width: int = 1280, height: int = 720) -> Iterator[Page]:
    """A page in a profile of its own, whose every complaint is a failure."""
    context = browser.new_context(
        bypass_csp=True,
        base_url=site.url,
        viewport={"width": width, "height": height},
        accept_downloads=True,
    )
    context.set_default_timeout(60_000)
    opened, complaints = context.new_page(), list[str]()
    watch(opened, site.url, complaints)
    yield opened
    context.close()
    assert complaints == []


def watch(page: Page, url: str, complaints: list[str]) -> None:
    """Collect what a page complains of, and whom else it asks."""

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(f"console: {message.text} ({message.location.get('url')})")

    def asked(request: Request) -> None:
        if not request.url.startswith((url, "data:", "blob:", "about:")):
            complaints.append(f"outside request: {request.url}")

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
    page.on("request", asked)


def _wait(said: Path, process: Warmed) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        words = said.read_text("utf-8", "replace").split()
        url = next((word for word in words if word.startswith("http://")), "")
        if url and serving.answers(url):
            return url
        time.sleep(0.2)
    process.kill()
    process.wait()
    raise AssertionError(f"The server did not start: {said.read_text('utf-8', 'replace')}")
