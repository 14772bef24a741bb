"""The guide in the browser: found from the work, read at every width and in both themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Site
from tests.journeys.site.test_looks import hard_to_read
from tests.journeys.site.test_policy import LISTEN

EYES = Path(__file__).with_name("looks.js")
WIDTHS = (1280, 390)


@pytest.fixture
def reading(page: Page) -> Page:
    """A page with the eyes of looks.js, which counts what its policy forbids."""
    page.add_init_script(path=EYES)
    page.add_init_script(LISTEN)
    return page


def test_the_guide_is_opened_beside_the_work(page: Page, site: Site) -> None:
    site.project(images=1)
    page.goto("/?tab=projects")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Guide", exact=True).click()
    guide = opened.value
    expect(guide.get_by_role("heading", level=1, name="The guide")).to_be_visible()
    guide.get_by_role("navigation").get_by_role("link", name="Labelling").click()
    expect(guide).to_have_title("Labelling · Loupe")
    guide.get_by_role("link", name="Keys", exact=True).click()
    expect(guide).to_have_url(re.compile("/guide/labelling#keys$"))
    expect(guide.get_by_role("heading", name="Keys")).to_be_in_viewport()
    guide.get_by_role("link", name="Loupe", exact=True).click()
    expect(guide.get_by_role("button", name="New project").first).to_be_visible()
    guide.close()


def test_the_keys_lead_into_the_guide(page: Page, site: Site) -> None:
    project = site.project(images=1)
    page.goto(f"/?project={project.id}&tab=annotate")
    page.locator(".lp-stage").wait_for()
    page.keyboard.press("?")
    with page.expect_popup() as opened:
        page.get_by_role("dialog").get_by_role("link", name="In the guide").click()
    expect(opened.value.get_by_role("heading", name="Keys")).to_be_in_viewport()
    opened.value.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["", "/labelling", "/commands", "/figures", "/results-in-sql"])
def test_a_page_of_the_guide_is_whole_and_can_be_read(reading: Page, width: int, name: str) -> None:
    reading.set_viewport_size({"width": width, "height": 720})
    reading.goto(f"/guide{name}")
    expect(reading.get_by_role("heading", level=1)).to_be_visible()
    assert reading.evaluate("looks.layout()") == []
    assert hard_to_read(reading) == []
    assert reading.evaluate("window.violations") == []


def test_the_contents_are_reached_on_a_phone(reading: Page) -> None:
    reading.set_viewport_size({"width": 390, "height": 720})
    reading.goto("/guide/review")
    reading.get_by_role("link", name="Contents").click()
    reading.get_by_role("navigation").get_by_role("link", name="Teams").click()
    expect(reading.get_by_role("heading", level=1, name="Teams")).to_be_in_viewport()


def test_the_guide_wears_the_theme_that_was_chosen(reading: Page) -> None:
    reading.goto("/guide")
    reading.evaluate("localStorage.setItem('loupe-theme', 'dark')")
    reading.reload()
    expect(reading.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_header_has_room_for_the_guide_on_a_phone(page: Page, site: Site) -> None:
    site.project(images=1)
    page.set_viewport_size({"width": 390, "height": 720})
    page.goto("/?tab=projects")
    link = page.get_by_role("link", name="Guide", exact=True)
    expect(link).to_be_in_viewport()
    brand, tab = page.locator(".brand"), page.get_by_role("tab", name="Projects")
    tops = [one.bounding_box() for one in (brand, link, tab)]
    (_, bottom), (first, _), (second, _) = [(b["y"], b["y"] + b["height"]) for b in tops if b]
    assert first < bottom <= second
