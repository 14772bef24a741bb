"""A page stands where its address and its person put it: runs, folds, keys, imports."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands


@pytest.fixture(scope="module")
def made(site: Site) -> boards.Boards:
    put = boards.put(site, "places", 3, labelled=3)
    boards.detect(site, put, 961)
    return put


@pytest.mark.parametrize("view", ["", "wall"])
def test_a_run_opens_under_its_own_project(
    page: Page, site: Site, made: boards.Boards, view: str
) -> None:
    with site.database.write.begin() as session:
        other = catalogue.create(session, f"another line {view}")
    page.goto(f"/?project={other.name}&tab=review&run=961&view={view}")
    expect(page.locator("#shell-header select")).to_have_value(made.project.name)
    assert f"project={made.project.name}" in page.url


def test_an_image_that_there_is_not_leads_to_one_that_there_is(
    page: Page, site: Site, made: boards.Boards, complaints: list[str]
) -> None:
    hands = Hands(page, site)
    hands.open(made.project.name, 999_999)
    page.wait_for_url(f"**image={made.ids[0]}**")
    complaints.clear()


def test_a_long_shift_lets_images_go(page: Page, site: Site, made: boards.Boards) -> None:
    with site.database.write.begin() as session:
        long = catalogue.create(session, "places long")
        sha = images.get(session, made.ids[0]).sha256
        new = [NewImage(f"{number:03}.png", sha, 640, 640) for number in range(400)]
        images.add(session, long.id, new, "ana")
    hands = Hands(page, site)
    hands.open(long.name)
    last = f"{hands.js}.list.at(-1)"
    for _ in range(40):
        page.evaluate(f"{hands.js}.extend(1).then(() => {hands.js}.open({last}))")
    assert hands.ask("list.length") <= 260
    assert hands.ask("desk.items.size") <= 260
    assert hands.ask("position") > 390
    hands.press("k")
    page.wait_for_function(f"{hands.js}.position < 399")


def test_what_is_folded_stays_folded(page: Page, site: Site, made: boards.Boards) -> None:
    hands = Hands(page, site)
    hands.open(str(made.project.id), made.ids[0])
    rows = page.locator("#shell-annotate .lp-class").first
    page.get_by_role("button", name="Fold Classes").click()
    expect(rows).to_be_hidden()
    page.reload()
    hands.ready()
    expect(rows).to_be_hidden()
    page.get_by_role("button", name="Unfold Classes").click()
    expect(rows).to_be_visible()


def test_the_keys_of_browse_outlive_a_ticked_filter(page: Page, made: boards.Boards) -> None:
    page.goto(f"/?project={made.project.id}&tab=browse")
    page.get_by_role("checkbox").first.wait_for()
    held: list[Route] = []
    page.route("**/images?state=done*", lambda route: held.append(route))
    with page.expect_request("**/images?state=done*"):
        page.locator("[data-filter='state done']").check()
    page.locator("[data-filter='state done']:focus").wait_for()
    page.keyboard.press("j")
    page.keyboard.press("x")
    while not held:
        page.wait_for_timeout(10)
    held.pop().continue_()
    expect(page.get_by_text("1 selected")).to_be_visible()
    expect(page.locator(".cell.current")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_text("2 selected")).to_be_visible()


def test_an_empty_project_is_filled_where_one_stands(page: Page, site: Site) -> None:
    with site.database.write.begin() as session:
        empty = catalogue.create(session, "places empty")
    page.goto(f"/?project={empty.name}&tab=browse")
    page.locator("#shell-browse").get_by_role("button", name="Import pictures").click()
    expect(page.get_by_role("dialog", name=f"Import into {empty.name}")).to_be_visible()
    assert "tab=browse" in page.url


def test_what_is_chosen_at_first_can_work(page: Page, made: boards.Boards, site: Site) -> None:
    with site.database.write.begin() as session:
        bare = catalogue.create(session, "places bare")
    page.goto(f"/?project={bare.name}&tab=train")
    expect(page.get_by_role("combobox", name="Family")).not_to_have_value("golden")
    page.goto(f"/?project={made.project.name}&tab=train")
    expect(page.get_by_role("combobox", name="Family")).to_have_value("golden")
    page.goto(f"/?project={made.project.name}&tab=detect")
    expect(page.get_by_role("combobox", name="Images")).to_have_value("all")


def test_the_choices_of_a_review_stand_in_one_line(page: Page, made: boards.Boards) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"/?project={made.project.id}&tab=review&run=961")
    page.get_by_role("button", name="Defect wall").wait_for()
    assert page.locator(".lp-head").evaluate("one => one.clientHeight") < 48
