"""For those who use the keyboard or a reader: every page. (test_looks.py sees the contrast.)"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.journeys import boards
from tests.journeys.conftest import Site

TABS = ("projects", "overview", "browse", "annotate", "train", "detect", "review", "models", "jobs")
SEEN = """
  const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && e.getClientRects().length > 0;
"""
NAMELESS = f"""() => {{ {SEEN}
  const name = (e) => e.getAttribute("aria-label") || e.title || e.innerText?.trim()
    || [...(e.labels ?? [])].map((l) => l.innerText).join("").trim()
    || document.getElementById(e.getAttribute("aria-labelledby"))?.innerText;
  const controls = "button, input, select, textarea, a[href], [tabindex='0'], [role=tab]";
  return [...document.querySelectorAll(controls)].filter(seen)
    .filter((e) => !e.closest("[aria-hidden=true]") && !name(e))
    .map((e) => e.outerHTML.slice(0, 160));
}}"""
FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  window.order ??= new Map();
  if (!window.order.has(e)) window.order.set(e, window.order.size);
  const style = getComputedStyle(e);
  const ring = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
  const inside = e.matches(".wall-scroll, .lp-wall-scroll");
  return [window.order.get(e), ring || inside, e.outerHTML.slice(0, 120)];
}"""  # noqa: E501
# As many steps as there may be, on a site where other tests have left their projects.
MOST = """20 + document.querySelectorAll(
  "a, button, input, select, textarea, summary, [tabindex]").length"""


@pytest.fixture(scope="module")
def desk(browser: Browser, site: Site) -> Iterator[Page]:
    """A page beside a project that has pictures, labels and a run to review."""
    put = boards.put(site, "accessible", 6, labelled=2)
    boards.detect(site, put, 900_001)
    context = browser.new_context(
        bypass_csp=True,
        base_url=site.url,
        viewport={"width": 1440, "height": 900},
        reduced_motion="reduce",
    )
    yield context.new_page()
    context.close()


def open_tab(page: Page, tab: str) -> None:
    page.goto(f"/?project=accessible&tab={tab}")
    page.wait_for_selector(f"#shell-{tab} .shell:not([aria-busy])")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("tab", TABS)
def test_every_control_has_a_name(desk: Page, tab: str) -> None:
    open_tab(desk, tab)
    assert desk.evaluate(NAMELESS) == []


@pytest.mark.parametrize("tab", TABS)
def test_the_tab_key_goes_through_with_a_ring_and_comes_out(desk: Page, tab: str) -> None:
    open_tab(desk, tab)
    desk.evaluate("document.activeElement?.blur()")
    without: set[str] = set()
    for _ in range(desk.evaluate(MOST)):
        desk.keyboard.press("Tab")
        focused = desk.evaluate(FOCUSED)
        if focused is None:
            break
        at, ring, what = focused
        if not ring:
            without.add(what)
        if at == 0 and desk.evaluate("window.order.size") > 1:
            break
    else:
        raise AssertionError(f"The focus does not come out again: {what}")
    assert without == set()


def test_nothing_moves_by_itself_for_those_who_ask_for_that(desk: Page) -> None:
    open_tab(desk, "annotate")
    moving = "document.getAnimations().filter((one) => one.playState === 'running').length"
    assert desk.evaluate(moving) == 0
    fast = "[...document.querySelectorAll('.shell *')].every((e) => getComputedStyle(e).transitionDuration.split(', ').every((d) => d === '0s'))"  # noqa: E501
    assert desk.evaluate(fast)
