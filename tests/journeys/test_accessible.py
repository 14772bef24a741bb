"""For those who use the keyboard, a reader, or eyes that need contrast: every page, both themes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.journeys import boards
from tests.journeys.conftest import Site

TABS = ("projects", "browse", "annotate", "train", "detect", "review", "models", "jobs")
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
# The colour of every text against what lies behind it, by the formula of WCAG.
FAINT = f"""() => {{ {SEEN}
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {{ willReadFrequently: true }});
  const paint = (...colors) => {{
    colors.forEach((color) => {{ canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }});
    return [...canvas.getImageData(0, 0, 1, 1).data];
  }};
  const light = (rgb) => {{
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }};
  const behind = (e) => {{
    const layers = [];
    for (; e; e = e.parentElement) {{
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") return null;
      layers.unshift(style.backgroundColor);
    }}
    return ["#fff", ...layers];
  }};
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {{
    const e = node.parentElement;
    const off = e.closest("[aria-hidden=true], :disabled, [aria-disabled=true], canvas, .cell, option, script, style");
    if (!node.data.trim() || off || !seen(e)) continue;
    const layers = behind(e);
    if (!layers) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(paint(...layers)), light(paint(...layers, style.color))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least - 0.01) found.push(`${{ratio.toFixed(2)}} ${{e.className || e.tagName}}: ${{node.data.trim().slice(0, 40)}}`);
  }}
  return found;
}}"""  # noqa: E501
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
MOST = 150


@pytest.fixture(scope="module")
def desk(browser: Browser, site: Site) -> Iterator[Page]:
    """A page beside a project that has pictures, labels and a run to review."""
    put = boards.put(site, "accessible", 6, labelled=2)
    boards.detect(site, put, 900_001)
    context = browser.new_context(
        base_url=site.url, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def open_tab(page: Page, tab: str, theme: str = "light") -> None:
    page.add_init_script(f"localStorage.setItem('loupe-theme', '{theme}')")
    page.goto(f"/?project=accessible&tab={tab}")
    page.wait_for_selector(f"#shell-{tab} .shell:not([aria-busy])")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("tab", TABS)
def test_every_control_has_a_name_and_every_text_contrast(desk: Page, tab: str) -> None:
    for theme in ("light", "dark"):
        open_tab(desk, tab, theme)
        assert desk.evaluate(NAMELESS) == []
        assert desk.evaluate(FAINT) == [], theme


@pytest.mark.parametrize("tab", TABS)
def test_the_tab_key_goes_through_with_a_ring_and_comes_out(desk: Page, tab: str) -> None:
    open_tab(desk, tab)
    desk.evaluate("document.activeElement?.blur()")
    without: set[str] = set()
    for _ in range(MOST):
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
