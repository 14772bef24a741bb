"""A person finds images by what is known of them, and changes many at once; by keys alone too."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from backend.domain import Detection, Project, Run, RunImage, Split
from backend.labels import bulk, gallery, labelling
from backend.runs import detection
from backend.storage import findings
from backend.storage.types import now
from tests.journeys import boards
from tests.journeys.conftest import Site

SHOWN = """wanted => {
  const cells = [...document.querySelectorAll(".cell")];
  const names = cells.sort((a, b) => a.dataset.index - b.dataset.index)
    .map(cell => cell.getAttribute("aria-label")?.split(",")[0]);
  return JSON.stringify(names) === JSON.stringify(wanted);
}"""
ORDERS = {"name": "Name", "newest": "Newest first", "boxes": "Most boxes", "doubt": "Most doubtful"}


def made(site: Site, name: str) -> Project:
    """Boards of two lots: labelled or not, in all splits, with proposals, one by another person."""
    put = boards.put(site, name, 12, labelled=5)
    for number, split in enumerate([Split.TRAIN, Split.VAL, Split.TEST]):
        some = put.ids[number:6:3]
        bulk.change(
            site.database.write.begin, put.project.id, bulk.Change("split", split), some, "ana"
        )
    bulk.change(
        site.database.write.begin, put.project.id, bulk.Change("group", "lot 9"), put.ids[:5], "ana"
    )
    with site.database.write.begin() as session:
        run = 50_000 + put.project.id
        findings.start(session, Run(run, "golden", "golden", now(), put.project.id))
        found = (Detection(1, 1, 9, 9, put.project.classes[0].name, 0.75),)
        seen = [RunImage(id_, str(id_), detections=found) for id_ in put.ids[:7]]
        findings.record(session, run, seen)
        detection.mark(session, dict.fromkeys(put.ids[:7], 0.5))
        version = labelling.version_of(session, put.ids[0])
        labelling.save(session, put.ids[0], version, (), "ben")
    return put.project


@pytest.fixture(scope="module")
def project(site: Site) -> Project:
    return made(site, "filters")


def opened(page: Page, project: Project) -> Page:
    page.goto(f"/?project={project.id}&tab=browse")
    expect(page.locator(".cell img").first).to_be_visible()
    page.wait_for_function("[...document.querySelectorAll('.cell img')].every(i => i.naturalWidth)")
    return page


def names(site: Site, project: Project, query: str) -> list[str]:
    """What passes a filter, in its order."""
    pairs = [(a, b) for a, _, b in (pair.partition("=") for pair in query.split("&"))]
    with site.database.read.begin() as session:
        found = gallery.every(session, project.id, gallery.parse(pairs))
        return [item.image.name for item in found]


def line(page: Page, legend: str, value: str) -> Locator:
    """One value of one filter."""
    group = page.locator("fieldset").filter(has=page.locator("legend", has_text=legend))
    return group.locator("label").filter(has_text=value).first


@pytest.mark.parametrize(
    ("chosen", "query"),
    [
        ([("State", "Done")], "state=done"),
        ([("Split", "Not assigned")], "split=none"),
        ([("Class", "short")], "class=short"),
        ([("Lot", "lot 9")], "group=lot 9"),
        ([("Last edited by", "ben")], "author=ben"),
        ([("Golden", "Has a golden")], "golden=yes"),
        ([("Proposals", "Has proposals")], "proposals=yes"),
        ([("State", "Done"), ("Split", "Train")], "state=done&split=train"),
    ],
)
def test_a_filter_shows_as_many_as_it_said(
    tab: Page, site: Site, project: Project, chosen: list[tuple[str, str]], query: str
) -> None:
    opened(tab, project)
    parts = query.split("&")
    for number, (legend, value) in enumerate(chosen, 1):
        wanted = len(names(site, project, "&".join(parts[:number])))
        expect(line(tab, legend, value).locator(".n")).to_have_text(str(wanted))
        line(tab, legend, value).locator("input").check()
        said = f"{wanted} image{'s' * (wanted != 1)}"
        expect(tab.locator(".wall-head .total")).to_have_text(said)
    assert wanted > 0
    expect(tab.locator(".cell")).to_have_count(wanted)


def test_images_come_in_every_order(tab: Page, site: Site, project: Project) -> None:
    opened(tab, project)
    for value, words in ORDERS.items():
        tab.get_by_label("Sort by").select_option(words)
        wanted = names(site, project, f"sort={value}")
        tab.wait_for_function(SHOWN, arg=wanted)


def test_boxes_stand_on_the_thumbnails(tab: Page, site: Site, project: Project) -> None:
    opened(tab, project)
    with site.database.read.begin() as session:
        items = gallery.page(session, project.id, gallery.Filter()).items
    drawn = tab.locator(".cell").evaluate_all(
        "cells => cells.sort((a, b) => a.dataset.index - b.dataset.index)"
        ".map(cell => cell.querySelectorAll('rect:not(.halo)').length)"
    )
    assert drawn == [len(item.boxes) for item in items]
    assert sum(drawn) > 0


@pytest.mark.parametrize(
    ("label", "choice", "value"),
    [("Set split", "Validation", "val"), ("Set state", "Done", "done")],
)
def test_many_are_changed_by_keys_alone_and_undone(
    page: Page, site: Site, label: str, choice: str, value: str
) -> None:
    project = site.project(images=4)
    field = label.removeprefix("Set ")
    before = names(site, project, f"{field}={value}")
    opened(page, project)
    page.locator(".wall-scroll").focus()
    page.keyboard.press("Control+a")
    expect(page.locator(".bulk b")).to_have_text("4")
    page.get_by_label(label).press(choice[0])
    expect(page.get_by_text(f"{field.capitalize()} set: 4 images.")).to_be_visible()
    assert len(names(site, project, f"{field}={value}")) == 4
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert names(site, project, f"{field}={value}") == before


def test_a_lot_is_named_for_many(page: Page, site: Site) -> None:
    project = site.project(images=4)
    opened(page, project)
    page.locator(".cell").nth(0).click(modifiers=["Control"])
    page.locator(".cell").nth(1).click(modifiers=["Control"])
    page.get_by_role("button", name="Set lot").press("Enter")
    page.keyboard.type("<b>lot 7</b>")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Lot set: 2 images.")).to_be_visible()
    assert len(names(site, project, "group=<b>lot 7</b>")) == 2
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert names(site, project, "group=<b>lot 7</b>") == []


def test_a_filter_is_set_and_an_image_opened_by_keys_alone(
    page: Page, site: Site, project: Project
) -> None:
    opened(page, project)
    line(page, "State", "Done").locator("input").press("Space")
    wanted = names(site, project, "state=done")
    expect(page.locator(".cell")).to_have_count(len(wanted))
    page.locator(".wall-scroll").focus()
    for key in ("Home", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    place = page.locator("#shell-annotate .lp-place")
    expect(place).to_have_text(f"2 / {len(wanted)}")
    expect(page.locator("#shell-annotate .lp-file")).to_have_text(wanted[1])


def test_half_a_date_stays_while_the_filters_are_counted(page: Page, project: Project) -> None:
    opened(page, project)
    held: list[Route] = []
    page.route("**/images/counts?**", lambda route: held.append(route))
    with page.expect_request("**/images/counts?**"):
        line(page, "State", "Done").click()
    page.get_by_label("From this day").focus()
    page.keyboard.type("0304")
    for one in held:
        one.continue_()
    page.unroute("**/images/counts?**")
    expect(page.get_by_role("button", name="Clear filters")).to_be_visible()
    page.keyboard.type("2026")
    page.wait_for_url("**since=2026-03-04**")
