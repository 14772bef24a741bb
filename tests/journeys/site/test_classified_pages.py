"""Every page of a project whose pictures are classified speaks of classes, and of no box."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.journeys import sorting
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

RUN = 990
PROJECT = "no word of boxes"
STRANGE = re.compile(r"\b(IoU|mAP|AP|box|boxes|tiles?|golden|draw|defects?)\b", re.IGNORECASE)
PAGES = {
    "browse": ("", ".cell img"),
    "annotate": ("", ".lp-answers .lp-row"),
    "review": ("", ".lp-runs"),
    "review picture": (f"&run={RUN}", ".lp-answers .lp-row"),
    "review wall": (f"&run={RUN}&view=wall&class=good", ".lp-whole"),
}


@pytest.fixture(scope="module")
def made(site: Site) -> list[int]:
    ids = sorting.put(site, PROJECT, 9)
    sorting.answer(site.database, ids, RUN)
    return ids


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_word_and_no_control_of_boxes(
    page: Page, site: Site, made: list[int], name: str
) -> None:
    more, shown = PAGES[name]
    tab = name.split()[0]
    page.goto(f"{site.url}/?project={PROJECT}&tab={tab}{more}")
    shell = page.locator(f"#shell-{tab}")
    expect(shell.locator(shown).locator("visible=true").first).to_be_visible()
    if name == "browse":
        page.keyboard.press("Control+a")
        expect(page.locator(".bulk")).to_contain_text(f"{len(made)} selected")
    for fold in shell.locator("details").locator("visible=true").all():
        fold.locator("summary").first.click()
    named = shell.locator("button, input, select").locator("visible=true")
    titles = named.evaluate_all("all => all.map((one) => `${one.title} ${one.ariaLabel ?? ''}`)")
    for text in (shell.inner_text(), *titles):
        assert not STRANGE.search(text), STRANGE.findall(text)


@pytest.mark.parametrize("tab", ["annotate", "review"])
def test_the_sheet_of_keys_has_no_key_of_boxes(
    page: Page, site: Site, made: list[int], tab: str
) -> None:
    assert made
    hands = Hands(page, site, tab)
    hands.open(PROJECT, run=str(RUN))
    hands.press("?")
    keys = page.locator("dialog.lp-keys")
    expect(keys).to_contain_text("None of the classes; on to the next")
    assert not STRANGE.search(keys.inner_text()), keys.inner_text()
