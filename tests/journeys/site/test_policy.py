"""What the pages may run: they need nothing that their policy forbids, and nothing else runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys import conftest
from tests.journeys.conftest import Site

TABS = ("projects", "overview", "browse", "annotate", "train", "detect", "review", "models", "jobs")
LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""
INTRUDE = """() => {
  const script = document.createElement("script");
  script.textContent = "window.intruded = true";
  document.body.append(script);
  document.body.insertAdjacentHTML("beforeend", '<img src="x:" onerror="window.intruded = true">');
  return new Promise((resolve) => setTimeout(() => resolve(window.intruded ?? false), 200));
}"""


@pytest.fixture
def page(browser: Browser, site: Site, complaints: list[str]) -> Iterator[Page]:
    """A page that is held to its policy, as everybody's is."""
    context = browser.new_context(base_url=site.url)
    context.set_default_timeout(60_000)
    opened = context.new_page()
    conftest.watch(opened, site.url, complaints)
    yield opened
    context.close()
    assert complaints == []


def test_no_page_does_what_its_policy_forbids(page: Page, site: Site) -> None:
    project = site.project(images=3)
    page.add_init_script(LISTEN)
    for tab in TABS:
        page.goto(f"/?project={project.id}&tab={tab}")
        shown = page.locator(f"#shell-{tab} .shell > *").filter(visible=True)
        expect(shown.first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.violations") == [], tab


def test_a_script_that_gets_into_the_page_does_not_run(
    page: Page, site: Site, complaints: list[str]
) -> None:
    site.project(images=1)
    page.goto("/")
    expect(page.get_by_role("button", name="New project").first).to_be_visible()
    assert page.evaluate(INTRUDE) is False
    expected = [one for one in complaints if "Content Security Policy" in one]
    assert len(expected) >= 2
    complaints[:] = [one for one in complaints if one not in expected and "x:" not in one]
