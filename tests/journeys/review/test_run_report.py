"""A run leaves the house as one page: taken from the list, opened by somebody without Loupe."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from backend.review.boards import sheet
from tests.journeys import boards
from tests.journeys.conftest import Site


def test_a_report_opens_by_itself_with_the_figures_of_the_run(
    page: Page, site: Site, tmp_path: Path
) -> None:
    made = boards.put(site, "report of a run", 3)
    boards.detect(site, made, 951)
    page.goto(f"{site.url}/?project={made.project.id}&tab=review")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Report", exact=True).click()
    taken = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(taken)
    assert taken.name == "run-951.html"
    with site.database.read.begin() as session:
        counted = sheet.read(session, 951).counted
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
