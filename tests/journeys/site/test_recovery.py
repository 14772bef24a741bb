"""Every page: a slow answer shows a skeleton, and what was opened without a line fills later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.journeys import boards
from tests.journeys.conftest import Site

# Each page, what asks for what it shows, and words of it that stand there once that has come.
PAGES = {
    "projects": ("/api/projects", "Projects", "recovery"),
    "overview": ("**/overview?*", "recovery", "Yield by lot"),
    "browse": ("/api/projects/*/images?*", "images", "4 images"),
    "annotate": ("**/around?*", "", "Classes"),
    "train": ("**/training", "Train", "Family"),
    "detect": ("**/detect", "Detect", "Lowest score"),
    "review": ("**/runs", "Runs", "Run 951"),
    "models": ("**/models", "Models", "Train the first one"),
    "jobs": ("/api/jobs?*", "Jobs", "No worker is alive"),
}
EMPTY = (
    "No model yet",
    "No image yet",
    "Nothing to review yet",
    "No project yet",
    "Nothing is left",
)


@pytest.fixture(scope="module")
def made(site: Site) -> boards.Boards:
    put = boards.put(site, "recovery", 4)
    boards.detect(site, put, 951)
    return put


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A page whose line is cut on purpose, so it may complain."""
    context = browser.new_context(
        bypass_csp=True, base_url=site.url, viewport={"width": 1280, "height": 720}
    )
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def open_page(page: Page, made: boards.Boards, name: str) -> None:
    page.goto(f"/?project={made.project.name}&tab={name}", wait_until="commit")


def shell(name: str) -> str:
    return f"#shell-{name} .shell"


@pytest.mark.parametrize("name", PAGES)
def test_a_slow_answer_shows_a_skeleton_and_never_the_empty_page(
    page: Page, made: boards.Boards, name: str
) -> None:
    asked, _, words = PAGES[name]
    held: list[Route] = []
    pattern = asked if asked.startswith("**") else f"**{asked}"
    page.route(pattern, lambda route: held.append(route))
    open_page(page, made, name)
    place = page.locator(shell(name))
    expect(place.locator(".bones .skeleton").first).to_be_visible()
    assert not any(text in place.inner_text() for text in EMPTY)
    page.unroute(pattern)
    expect(place.get_by_text(words).first).to_be_visible()
    expect(place.locator(".bones")).to_have_count(0)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opened_without_a_line_fills_by_itself(
    page: Page, made: boards.Boards, name: str
) -> None:
    page.route("**/api/**", lambda route: route.abort())
    open_page(page, made, name)
    place = page.locator(shell(name))
    expect(place.get_by_text("could not be loaded")).to_be_visible()
    assert not any(text in place.inner_text() for text in EMPTY)
    page.unroute_all()
    expect(place.get_by_text(PAGES[name][2]).first).to_be_visible()
    expect(page.locator("#shell-header select")).to_contain_text(made.project.name)


def test_what_a_poll_throws_ends_no_polling(page: Page, made: boards.Boards) -> None:
    broken: list[str] = []

    def answer(route: Route) -> None:
        broken.append(route.request.url)
        route.fulfill(json={"open": 7}) if len(broken) == 2 else route.continue_()

    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.route("**/api/jobs?*", answer)
    open_page(page, made, "jobs")
    page.wait_for_event("pageerror", lambda _: True) if not thrown else None
    with page.expect_request("**/api/jobs?*"):
        pass
    expect(page.get_by_text("No worker is alive")).to_be_visible()
    assert len(broken) > 2
