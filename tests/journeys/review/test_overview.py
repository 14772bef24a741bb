"""A project at a glance: whatever is clicked there opens as many boards as it spoke of."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from backend.domain import Box, State
from backend.labels import board_tables, gallery, labelling
from backend.models import registry, trainings
from backend.projects import catalogue
from backend.review import views
from backend.review.overview import reading
from backend.sample.boards import CLASSES
from tests.journeys import boards
from tests.journeys.conftest import Site

RUN = 290_101
SAID = re.compile(r"(?:on|of) (\d+) board")
ROWS = ".lp-boards tbody tr"
# Each plot, and how many boards one of its marks speaks of: as it says, or of whom it is asked.
TOLD = (
    "Yield by lot", "Yield by day", "Defects by class", "Classes by lot", "Where on the board",
    "Detections by score", "Yield over runs",
)  # fmt: skip
MISTAKES = {"Escapes, seen and at most": "escapes", "False calls by class": "false_calls"}


@pytest.fixture(scope="module")
def glance(site: Site) -> int:
    """Boards with two runs, some of them labelled, one with a defect that no run has found."""
    made = boards.put(site, "at a glance", 8, labelled=4)
    boards.detect(site, made, RUN - 1)
    boards.detect(site, made, RUN)
    with site.database.write.begin() as session:
        first = made.ids[0]
        version, found = labelling.version_of(session, first), made.defects[first]
        missed = Box(600.0, 600.0, 630.0, 625.0, CLASSES[1])
        labelling.save(session, first, version, [*found, missed], "ana", state=State.DONE)
        rule = {"threshold": 0.3, "thresholds": {}, "severity": 1, "repeats": 0.0}
        views.set_rule(session, made.project.id, rule, 0, "ana")
        trained = trainings.retrain(session, made.project.id, "golden", seed=1, author="ana")
        worth = {"images": 4, "split": "test", "map50": 0.75, "map50_95": 0.5}
        registry.complete(session, trained.model.id, site.files.put(b"w"), worth)
    return made.project.id


def look(page: Page, project: int, more: str = "") -> None:
    page.goto(f"/?project={project}&tab=overview&run={RUN}{more}")
    page.locator(".overview[data-left='0']").wait_for()


def plot(page: Page, title: str) -> Locator:
    heading = page.get_by_role("heading", name=title, exact=True, include_hidden=True)
    return page.locator(".plot").filter(has=heading)


def test_a_mark_of_each_plot_opens_the_boards_that_it_speaks_of(
    page: Page, site: Site, glance: int
) -> None:
    for title in TOLD:
        look(page, glance)
        mark = plot(page, title).locator("a.mark").last
        said = SAID.search(mark.get_attribute("aria-label") or "")
        assert said, title
        mark.click()
        expect(page.locator(ROWS)).to_have_count(int(said[1]))
    with site.database.read.begin() as session:
        project = catalogue.get(session, glance)
        told = reading.read(session, project, [RUN], reading.Narrowed(), 0)
    for title, mistake in MISTAKES.items():
        numbers = [getattr(one, mistake) for one in told.classes]
        look(page, glance)
        label = next(one.name for one in told.classes if getattr(one, mistake))
        plot(page, title).locator(f"a.mark[aria-label*='Class: {label},']").click()
        expect(page.get_by_role("heading", name=f"Boards of run {RUN}")).to_be_visible()
        assert 0 < page.locator(ROWS).count() <= max(numbers)


def test_states_open_browse_and_models_open_models(page: Page, glance: int) -> None:
    look(page, glance)
    plot(page, "Images by state").locator("a.mark").last.click()
    expect(page.locator(".wall-head .total")).to_have_text("4 images")
    look(page, glance)
    plot(page, "Models").locator("a.mark").last.click()
    expect(page.get_by_role("tab", name="Models")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("model=v1"))


def test_keys_walk_over_marks_and_open_one(page: Page, glance: int) -> None:
    look(page, glance)
    bars = plot(page, "Detections by score")
    bars.locator("svg").first.focus()
    page.keyboard.press("ArrowRight")
    first = bars.locator("a.mark").first
    expect(first).to_be_focused()
    expect(bars.locator(".plot-tip")).to_contain_text("Score: .35 to .40")
    page.keyboard.press("ArrowRight")
    expect(bars.locator("a.mark").nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("score=0.35&below=0.4"))
    expect(page.locator(ROWS)).to_have_count(8)
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("button", name="Show all")).to_have_count(0)


def test_a_plot_has_a_table_a_legend_that_hides_and_files(
    page: Page, glance: int, tmp_path: Path
) -> None:
    look(page, glance)
    pareto = plot(page, "Defects by class")
    expect(pareto.locator(".layer")).to_have_count(2)
    pareto.get_by_role("button", name="Share so far").click()
    expect(pareto.locator(".layer")).to_have_count(1)
    pareto.hover()
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("CSV", b"Series,Class,")):
        with page.expect_download() as downloading:
            pareto.get_by_role("button", name=kind, exact=True).click()
        assert downloading.value.suggested_filename == f"defects-by-class.{kind.lower()}"
        taken = tmp_path / kind
        downloading.value.save_as(taken)
        assert taken.read_bytes().startswith(begins)
    assert b"var(" not in (tmp_path / "SVG").read_bytes()
    rows = list(csv.reader(io.StringIO((tmp_path / "CSV").read_text())))
    pareto.get_by_role("button", name="Table").click()
    expect(pareto.locator("tbody tr")).to_have_count(len(rows) - 1)


def test_a_filter_stands_in_the_address_and_goes_along(page: Page, glance: int) -> None:
    look(page, glance)
    choice = page.get_by_role("combobox", name="Class")
    label = choice.locator("option").nth(1).inner_text()
    choice.select_option(label)
    expect(page).to_have_url(re.compile("class="))
    expect(
        plot(page, "Classes by lot").locator(".axes text").filter(has_text=label)
    ).to_be_visible()
    expect(plot(page, "Defects by class").locator(".bars .mark")).to_have_count(1)
    plot(page, "Where on the board").locator("a.mark").first.click()
    expect(page.locator(ROWS).first).to_contain_text(label)
    page.go_back()
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("button", name="Clear")).to_have_count(0)


def test_a_column_of_a_table_of_boards_is_a_filter_that_goes_along(
    page: Page, site: Site, tmp_path: Path
) -> None:
    made = boards.put(site, "with a table", 6, labelled=0)
    boards.detect(site, made, RUN + 1)
    table = tmp_path / "boards.csv"
    with site.database.read.begin() as session:
        names = [gallery.one(session, one).image.name for one in made.ids]
    sides = zip(names, ("top", "top", "bottom", "top", "bottom", "top"), strict=True)
    table.write_text("image,side\n" + "".join(f"{name},{side}\n" for name, side in sides))
    board_tables.join(site.database, made.project.name, table)
    page.goto(f"/?project={made.project.id}&tab=overview")
    page.get_by_role("combobox", name="side").select_option("top")
    expect(page).to_have_url(re.compile("data=side%3Dtop"))
    page.get_by_role("link", name="4 boards", exact=True).click()
    expect(page.locator(ROWS)).to_have_count(4)
    expect(page.get_by_text("Only those of side top.")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(ROWS)).to_have_count(6)
    page.goto(f"/?project={made.project.id}&tab=overview&data=serial%3D7")
    expect(page.get_by_text("serial=7 is no filter of the overview.")).to_be_visible()
