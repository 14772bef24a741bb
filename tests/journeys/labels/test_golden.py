"""The golden board in the browser: from the first start on, and laid where it belongs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from app.commands.site import SAMPLE
from backend.domain import Run, RunImage
from backend.jobs import listing
from backend.labels import images
from backend.labels.images import NewImage
from backend.models import growth
from backend.projects import catalogue
from backend.storage import findings
from backend.storage.tables import RunRow
from tests.journeys import boards, conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands
from tests.workers.families.golden import boards as drawn

MEAN = """() => {
  const canvas = document.querySelector('#shell-annotate .shell').page.stage.below;
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) sum += data[i];
  return sum / (data.length / 4);
}"""


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Site]:
    """A first start: a site with a worker beside it, which draws its sample project."""
    with conftest.served(tmp_path, "--sample") as started:
        yield started


def proposed(site: Site) -> bool:
    """Whether the golden board has looked at the sample project."""
    with site.database.read.begin() as session:
        return session.scalar(select(RunRow.id).where(RunRow.finished.is_not(None))) is not None


@pytest.mark.slow
def test_the_first_start_has_proposals_to_be_accepted_by_key(fresh: Site, browser: Browser) -> None:
    end = time.monotonic() + 300
    while not proposed(fresh) and time.monotonic() < end:
        time.sleep(0.5)
    context = browser.new_context(
        bypass_csp=True, base_url=fresh.url, viewport={"width": 1280, "height": 720}
    )
    hands = Hands(context.new_page(), fresh)
    hands.open(SAMPLE, state="new")
    panel = hands.page.locator("section", has=hands.page.get_by_role("heading", name="Proposals"))
    expect(panel.last).to_contain_text("rules")
    before = len(hands.ask("desk.proposals"))
    assert before > 0
    hands.press("a")
    (box,) = hands.stored().boxes
    assert box.detection is not None
    assert len(hands.ask("desk.proposals")) == before - 1
    hands.press("A")
    assert len(hands.stored().boxes) > 1
    context.close()


@pytest.fixture
def shifted(site: Site) -> str:
    """A board that lies 12 pixels right and 9 below of its golden, and a run that has found so."""
    clean = drawn.golden(4)
    name = "shifted"
    with site.database.write.begin() as session:
        project = catalogue.create(session, name, classes=("open",))
        golden = site.files.put(boards.png(clean))
        board = site.files.put(boards.png(drawn.moved(clean, x=12, y=9)))
        size = (drawn.SIZE, drawn.SIZE)
        images.add(
            session,
            project.id,
            [
                NewImage("golden.png", golden, *size, is_golden=True),
                NewImage("board.png", board, *size, golden="golden.png"),
            ],
            "import",
        )
        image_id = images.ids(session, project.id, ["board.png"])["board.png"]
        run = Run(850, "golden", "golden", datetime.now(UTC), project_id=project.id)
        findings.start(session, run)
        facts = {"golden": golden, "lie": [1, 0, -12, 0, 1, -9]}
        seen = RunImage(image_id, "board.png", board, *size, "ok", facts=facts)
        findings.record(session, 850, [seen])
    return name


def test_the_golden_is_drawn_where_it_lies(page: Page, site: Site, shifted: str) -> None:
    hands = Hands(page, site)
    hands.open(shifted)
    hands.press("g", "g", "g")
    page.wait_for_function(f"{hands.js}.stage.mode === 'difference'")
    loaded = f"{hands.js}.pictures.kept.size >= 2 && !{hands.js}.pictures.coming.size"
    page.wait_for_function(loaded)
    page.evaluate(f"{hands.js}.stage.drawNow()")
    laid = page.evaluate(MEAN)
    page.evaluate(f"{hands.js}.desk.item.golden.lie = []; {hands.js}.stage.drawNow()")
    # What stays bright is the strip that the golden does not show.
    assert laid < 0.5 * page.evaluate(MEAN)


def test_boards_are_proposed_for_from_browse(page: Page, site: Site) -> None:
    project = site.project(images=4)
    page.goto(f"/?project={project.id}&tab=browse")
    page.locator(".cell").first.click(modifiers=["Control"])
    page.get_by_role("button", name="Select all").click()
    expect(page.locator(".bulk b")).to_have_text("4")
    page.get_by_role("button", name="Propose from golden").click()
    expect(page.get_by_text("Proposals for 4 images")).to_be_visible()
    with site.database.read.begin() as session:
        [job] = listing.find(session, project_id=project.id)
    assert (job.kind, len(job.request["source"]["images"])) == ("propose", 4)


def test_the_golden_board_is_told_to_learn_by_itself(page: Page, site: Site) -> None:
    project = site.project(images=4)
    page.goto(f"/?project={project.id}&tab=train")
    box = page.get_by_label("Learn by itself after every tenth labelled image")
    box.check()
    expect(page.get_by_text("learns after every tenth")).to_be_visible()
    with site.database.read.begin() as session:
        assert growth.wanted(session, project.id)
    page.reload()
    expect(box).to_be_checked()
