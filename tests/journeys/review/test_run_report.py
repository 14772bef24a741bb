"""The boards of a run as a table; a run as one page, opened by somebody without Loupe."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from backend.domain import Verdict
from backend.review import agenda
from backend.review.agenda import Choice
from backend.review.boards import sheet
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands


def test_a_report_opens_by_itself_with_the_figures_of_the_run(
    page: Page, site: Site, tmp_path: Path
) -> None:
    made = boards.put(site, "report of a run", 3)
    boards.detect(site, made, 1951)
    page.goto(f"{site.url}/?project={made.project.id}&tab=review")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Report", exact=True).click()
    taken = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(taken)
    assert taken.name == "run-1951.html"
    with site.database.read.begin() as session:
        counted = sheet.read(session, 1951).counted
    asked: list[str] = []
    opened = page.context.new_page()
    opened.on("request", lambda one: asked.append(one.url))
    opened.goto(taken.as_uri())
    expect(opened.locator(".fail b")).to_have_text(str(counted.failed))
    expect(opened.locator(".pass b")).to_have_text(str(counted.passed))
    expect(opened.locator("article")).to_have_count(counted.failed)
    pictures = opened.locator("svg image")
    widths = pictures.evaluate_all("all => all.map(one => one.getBBox().width)")
    assert widths
    assert all(widths)
    assert asked == [taken.as_uri()]
    assert opened.pdf().startswith(b"%PDF")


def test_the_boards_of_a_run_stand_in_a_table_that_leads_to_each(page: Page, site: Site) -> None:
    made = boards.put(site, "boards of a run", 4)
    boards.detect(site, made, 1952)
    with site.database.write.begin() as session:
        first = made.ids[0]
        passed = Sheet(0, (), run_id=1952, review=True, verdict=Verdict.PASS)
        decisions.save(session, first, passed, "ana")
    page.goto(f"{site.url}/?project={made.project.id}&tab=review")
    page.get_by_role("link", name="All boards").click()
    rows = page.locator(".lp-boards tbody tr")
    expect(rows).to_have_count(len(made.ids))
    expect(rows.filter(has_text="by ana")).to_have_count(1)
    expect(rows.filter(has_text="by ana")).to_contain_text("Pass")
    page.get_by_label("Verdict").select_option("rule-fail")
    with site.database.read.begin() as session:
        wanted = agenda.ids(session, 1952, Choice(stands=("rule-fail",), sort="score"), 9)
    expect(rows).to_have_count(len(wanted))
    row = rows.first
    expect(row.locator("rect").first).to_be_attached()
    drawn = row.locator("img").first
    expect(drawn).to_have_js_property("complete", True)
    assert drawn.evaluate("one => one.naturalWidth") > 0
    row.get_by_role("link", name="Review").click()
    expect(page).to_have_url(
        re.compile(rf"run=1952.*image={wanted[0]}|image={wanted[0]}.*run=1952")
    )
    expect(page.locator(".lp-boards")).to_be_hidden()
    hands = Hands(page, site, "review")
    hands.ready()
    assert hands.image == wanted[0]
