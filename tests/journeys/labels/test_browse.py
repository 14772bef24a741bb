"""Browse: the grid, its filters in the URL, choosing many and changing them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from backend.domain import Project
from backend.labels import gallery, images
from tests.journeys.conftest import Site
from tests.journeys.hands import hit

OPEN_TAB = ".tabbar [role=tab][aria-selected=true]"


def open_browse(page: Page, project: Project, filters: str = "") -> None:
    page.goto(f"/?project={project.id}&tab=browse{filters}")
    expect(page.locator(".cell img").first).to_be_visible()


def stored(site: Site, project: Project, query: str = "") -> list[gallery.GalleryImage]:
    pairs = [pair.split("=") for pair in query.split("&") if pair]
    chosen = gallery.parse([(name, value) for name, value in pairs])
    with site.database.read.begin() as session:
        return list(gallery.every(session, project.id, chosen))


def test_a_person_finds_a_project_and_opens_it(page: Page, site: Site) -> None:
    site.project(images=6, name="boards to find")
    page.goto("/")
    page.get_by_role("link", name="boards to find", exact=True).click()
    expect(page.get_by_role("heading", name="boards to find")).to_be_visible()
    page.get_by_role("tab", name="Browse").click()
    expect(page.locator(".cell img")).to_have_count(6)
    expect(page.locator(".wall-head .total")).to_have_text("6 images")
    assert "project=boards+to+find" in page.url


def test_filters_stand_in_the_url_and_open_the_same_view(page: Page, site: Site) -> None:
    project = site.project(images=9)
    open_browse(page, project)
    page.get_by_role("checkbox", name="Done").check()
    done = len(stored(site, project, "state=done"))
    expect(page.locator(".wall-head .total")).to_have_text(f"{done} images")
    expect(page).to_have_url(re.compile("state=done"))
    page.reload()
    expect(page.locator(".cell img")).to_have_count(done)
    expect(page.get_by_role("checkbox", name="Done")).to_be_checked()


def test_the_back_button_takes_a_filter_back(page: Page, site: Site) -> None:
    project = site.project(images=6)
    open_browse(page, project)
    page.get_by_role("checkbox", name="Done").check()
    expect(page).to_have_url(re.compile("state=done"))
    page.go_back()
    expect(page.locator(".cell img")).to_have_count(6)


def test_each_back_and_each_forward_is_one_page(page: Page, site: Site) -> None:
    project = site.project(images=6)
    page.goto("/")
    seen = [(page.url, "projects")]
    for control, there, tab in (
        (page.get_by_role("link", name=project.name, exact=True), "tab=overview", "overview"),
        (page.get_by_role("tab", name="Browse"), "tab=browse", "browse"),
        (page.get_by_role("checkbox", name="Done"), "state=done", "browse"),
        (page.get_by_role("button", name="Annotate"), "image=", "annotate"),
        (page.get_by_role("tab", name="Browse"), "tab=browse", "browse"),
    ):
        control.click()
        expect(page).to_have_url(re.compile(there))
        seen.append((page.url, tab))
    open_tab = page.locator(OPEN_TAB)
    for turn, pages in ((page.go_back, seen[-2::-1]), (page.go_forward, seen[1:])):
        for url, tab in pages:
            turn()
            expect(open_tab).to_have_attribute("data-tab-id", tab)
            expect(page).to_have_url(url)


@pytest.mark.parametrize(
    "how", [{"button": "middle"}, {"modifiers": ["Control"]}, {"modifiers": ["Shift"]}]
)
def test_a_tab_opens_beside_the_page_as_a_link_does(
    page: Page, site: Site, how: dict[str, Any]
) -> None:
    project = site.project(images=3)
    open_browse(page, project, "&state=done")
    with page.context.expect_page() as opened:
        page.get_by_role("tab", name="Annotate").click(**how)
    expect(opened.value).to_have_url(re.compile(f"project={project.id}&state=done&tab=annotate"))
    chosen = opened.value.locator(OPEN_TAB)
    expect(chosen).to_have_attribute("data-tab-id", "annotate")
    assert "tab=browse" in page.url
    opened.value.close()


def test_a_tab_is_a_link_to_its_page_with_the_filters_of_now(page: Page, site: Site) -> None:
    project = site.project(images=3)
    open_browse(page, project)
    tab = page.get_by_role("tab", name="Annotate")
    expect(tab).to_have_attribute("href", f"/?project={project.id}&tab=annotate")
    page.get_by_role("checkbox", name="Done").check()
    expect(tab).to_have_attribute("href", f"/?project={project.id}&state=done&tab=annotate")
    page.get_by_role("tab", name="Browse").focus()
    page.keyboard.press("ArrowRight")
    expect(tab).to_be_focused()
    page.keyboard.press(" ")
    expect(page.locator(OPEN_TAB)).to_have_text("Annotate")
    expect(page).to_have_url(re.compile("state=done&tab=annotate"))


def test_text_in_the_name_filters_as_one_types(page: Page, site: Site) -> None:
    project = site.project(images=6)
    name = stored(site, project)[3].image.name
    open_browse(page, project)
    page.keyboard.press("/")
    page.keyboard.type(name)
    expect(page.locator(".cell img")).to_have_count(1)
    expect(page.locator(".cell")).to_have_attribute("aria-label", re.compile(re.escape(name)))


def test_many_images_change_their_split_and_undo_brings_it_back(page: Page, site: Site) -> None:
    project = site.project(images=6)
    before = [item.image.split for item in stored(site, project)]
    open_browse(page, project)
    page.locator(".cell").first.click(modifiers=["Control"])
    page.get_by_role("button", name="Select all").click()
    expect(page.locator(".bulk b")).to_have_text("6")
    page.get_by_label("Set split").select_option("Test")
    expect(page.get_by_text("Split set: 6 images.")).to_be_visible()
    assert {item.image.split for item in stored(site, project)} == {"test"}
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert [item.image.split for item in stored(site, project)] == before


@pytest.mark.parametrize("width", [1280, 390])
def test_what_a_change_says_stands_beside_the_controls_for_the_next(
    page: Page, site: Site, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 720})
    open_browse(page, site.project(images=3))
    page.locator(".cell").first.click(modifiers=["Control"])
    page.get_by_label("Set split").select_option("Test")
    told = page.get_by_role("status").filter(has_text="Split set").get_by_role("button")
    expect(told).to_have_count(2)
    controls = page.locator(".bulk").locator("button, select").all()
    assert len(controls) > 6
    assert [one.inner_text() for one in [*controls, *told.all()] if not hit(one)] == []


def test_deleted_images_come_back_by_undo(page: Page, site: Site) -> None:
    project = site.project(images=6)
    open_browse(page, project)
    page.locator(".cell").nth(0).click(modifiers=["Control"])
    page.locator(".cell").nth(2).click(modifiers=["Shift"])
    page.keyboard.press("Delete")
    expect(page.locator(".cell img")).to_have_count(3)
    assert len(stored(site, project)) == 3
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".cell img")).to_have_count(6)
    assert len(stored(site, project)) == 6


def test_changes_of_many_are_taken_back_by_a_key_one_after_the_other(
    page: Page, site: Site
) -> None:
    project = site.project(images=4)
    before = [item.image.split for item in stored(site, project)]
    open_browse(page, project)
    page.locator(".wall-scroll").focus()
    for key in ("Home", "x", "Delete"):
        page.keyboard.press(key)
    expect(page.locator(".cell img")).to_have_count(3)
    page.keyboard.press("Control+a")
    page.get_by_label("Set split").select_option("Test")
    expect(page.get_by_text("Split set: 3 images.")).to_be_visible()
    page.locator(".wall-scroll").focus()
    page.keyboard.press("z")
    expect(page.get_by_text("Undone.")).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator(".cell img")).to_have_count(4)
    assert [item.image.split for item in stored(site, project)] == before
    page.keyboard.press("z")
    expect(page.get_by_text("There is no change of yours to take back here.")).to_be_visible()


def test_the_keyboard_alone_chooses_and_opens(page: Page, site: Site) -> None:
    project = site.project(images=6)
    open_browse(page, project)
    page.locator(".wall-scroll").focus()
    for key in ("Home", "x", "ArrowRight", "x"):
        page.keyboard.press(key)
    expect(page.locator(".bulk b")).to_have_text("2")
    page.keyboard.press("Escape")
    expect(page.locator(".bulk")).to_be_hidden()
    second = re.compile(re.escape(stored(site, project)[1].image.name))
    expect(page.locator(".cell.current")).to_have_attribute("aria-label", second)


def test_a_name_with_markup_in_it_stays_a_name(page: Page, site: Site) -> None:
    evil = "<img src=x onerror=alert(1)> ${alert(2)} {{value}}"
    site.project(images=3, name=evil)
    page.goto("/")
    expect(page.get_by_role("link", name=evil, exact=True)).to_be_visible()


def test_what_to_do_is_said_where_nothing_is_shown(page: Page, site: Site) -> None:
    project = site.project(images=3)
    page.goto(f"/?project={project.id}&tab=browse&text=nothing-is-named-so")
    page.get_by_role("button", name="Clear filters").last.click()
    expect(page.locator(".cell img")).to_have_count(3)


def test_the_keys_are_listed_by_a_question_mark(page: Page, site: Site) -> None:
    open_browse(page, site.project(images=3))
    page.locator(".wall-scroll").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys in Browse")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_images_of_a_hundred_thousand_are_not_all_in_the_page(page: Page, site: Site) -> None:
    project = site.project(images=6)
    with site.database.write.begin() as session:
        first = gallery.page(session, project.id, gallery.Filter()).items[0].image
        many = [
            images.NewImage(f"z{number:06d}.png", first.sha256, 640, 640)
            for number in range(20_000)
        ]
        images.add(session, project.id, many, "test")
    open_browse(page, project)
    expect(page.locator(".wall-head .total")).to_have_text("20,006 images")
    page.keyboard.press("End")
    expect(page.locator(".cell.current")).to_have_attribute("aria-label", re.compile("z019999.png"))
    assert page.locator(".cell").count() < 120


def test_who_goes_to_the_end_before_the_classes_are_known_stays_there(
    page: Page, site: Site
) -> None:
    project, held = site.project(images=6), list[Route]()
    with site.database.write.begin() as session:
        first = gallery.page(session, project.id, gallery.Filter()).items[0].image
        many = [images.NewImage(f"z{n:03d}.png", first.sha256, 640, 640) for n in range(500)]
        images.add(session, project.id, many, "test")
    open_browse(page, project)
    classes = re.compile(r"/api/projects/[^/?]+$")
    page.route(classes, lambda route: held.append(route))
    page.get_by_label("Text in the name").fill("z")
    expect(page.locator(".wall-head .total")).to_have_text("500 images")
    page.locator(".wall-scroll").press("End")
    expect(page.locator(".cell.current")).to_have_attribute("aria-label", re.compile("z499.png"))
    with page.expect_response(classes):
        while held:
            held.pop().continue_()
    expect(page.locator(".cell.current")).to_have_attribute("aria-label", re.compile("z499.png"))
    expect(page.locator(".cell.current")).to_be_in_viewport()


def test_thumbnails_leave_lines_to_the_server_for_what_is_asked_meanwhile(
    page: Page, site: Site
) -> None:
    project = site.project(images=12)
    held: list[Route] = []
    page.route("**/thumb", lambda route: held.append(route))
    # A page is loaded when its pictures are, and these do not come.
    page.goto(f"/?project={project.id}&tab=browse", wait_until="commit")
    expect(page.locator(".cell img")).to_have_count(12)
    expect(page.locator(".cell img[src]")).to_have_count(4)
    page.get_by_label("Sort by").select_option("Most boxes")
    name = stored(site, project, "sort=boxes")[0].image.name
    first = page.locator(".cell[data-index='0']")
    expect(first).to_have_attribute("aria-label", re.compile(re.escape(name)))
    # What came into sight last comes first, and those that it replaced hold no line.
    expect(page.locator(".cell img[src]")).to_have_count(4)
    expect(first.locator("img[src]")).to_have_count(1)


def test_who_types_a_filter_loses_no_letter_while_its_answer_is_slow(
    page: Page, site: Site
) -> None:
    project = site.project(images=6)
    name = stored(site, project)[3].image.name
    open_browse(page, project)
    held: list[Route] = []
    page.route("**/images?*text=*", lambda route: held.append(route))
    page.keyboard.press("/")
    with page.expect_request("**/images?*text=*"):
        page.keyboard.type(name[:3])
    page.wait_for_timeout(600)  # the time after which a page shows that it waits
    page.keyboard.type(name[3:])
    expect(page.get_by_label("Text in the name")).to_have_value(name)
    page.unroute("**/images?*text=*")
    expect(page.locator(".cell img")).to_have_count(1)
