"""More than nine classes are told apart by colour and letter, wherever they are drawn."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from backend.projects import classes
from tests.journeys import boards
from tests.journeys.conftest import Site

pytestmark = pytest.mark.slow

RUN = 1700
MORE = ("oxide", "open pad", "äther", "scratch", "0402", "oil", "ooo")


@pytest.fixture(scope="module")
def few(site: Site) -> boards.Boards:
    return boards.put(site, "few classes", 2, labelled=1)


@pytest.fixture(scope="module")
def many(site: Site) -> boards.Boards:
    made = boards.put(site, "many classes", 4, labelled=3)
    boards.detect(site, made, RUN)
    with site.database.write.begin() as session:
        for name in MORE:
            classes.ensure(session, made.project.id, name)
    return made


def test_of_many_classes_each_has_a_sign_of_its_own(
    page: Page, site: Site, many: boards.Boards
) -> None:
    page.goto(f"/?project={many.project.id}&tab=annotate")
    signs = page.locator("#shell-annotate .lp-class .lp-swatch")
    expect(signs).to_have_count(len(site.classes(many.project)))
    said = dict(zip(site.classes(many.project), signs.all_inner_texts(), strict=True))
    assert len(set(said.values())) == len(said)
    assert [said[name] for name in MORE[3:]] == ["s", "a", "o", "b"]
    page.goto(f"/?project={many.project.id}&tab=annotate&state=done")
    page.locator("#shell-annotate .lp-row").first.wait_for()
    box = page.evaluate("document.querySelector('#shell-annotate .shell').page.boxMarks()[0]")
    assert box["letter"] == said[box["label"]]


def test_browse_and_the_wall_of_crops_show_the_signs(page: Page, many: boards.Boards) -> None:
    page.goto(f"/?project={many.project.id}&tab=browse")
    expect(page.locator(".cell svg text").first).to_have_text(re.compile("^[1-6]$"))
    expect(page.locator(".filters .lp-swatch").first).to_have_text("1")
    page.goto(f"/?project={many.project.id}&tab=review&run={RUN}&view=wall")
    expect(page.locator(".lp-wall-classes .lp-swatch").first).to_have_text("1")


def test_few_classes_are_told_apart_by_colour_alone(page: Page, few: boards.Boards) -> None:
    page.goto(f"/?project={few.project.id}&tab=browse")
    page.locator(".cell svg rect").first.wait_for(state="attached")
    expect(page.locator(".cell svg text")).to_have_count(0)
    expect(page.locator(".filters .lp-swatch").first).to_have_text("")
