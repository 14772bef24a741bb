"""What a second stage did stands beside its run, and behind each of its detections."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from playwright.sync_api import Page, expect

from backend.domain import Detection, Run, RunImage
from backend.storage import findings
from tests.journeys import boards
from tests.journeys.boards import Boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

RUN = 290_001
NOISE = Detection(300.0, 10.0, 330.0, 36.0, "open", 0.02)


def run(site: Site, made: Boards) -> None:
    """The detector is surest of what is no defect, which the second stage turns down."""
    with site.database.write.begin() as session:
        at = datetime.now(UTC)
        findings.start(session, Run(RUN, "v2", "second_stage", at, project_id=made.project.id))
        for image in made.ids:
            found = [
                Detection(box.x1, box.y1, box.x2, box.y2, box.label, 0.9)
                for box in made.defects[image]
            ]
            told = [[None, one.label, 0.4] for one in found]
            rows = tuple(replace(one, idx=at) for at, one in enumerate([*found, NOISE]))
            facts = {findings.STAGES: [*told, [None, "short", 0.8]]}
            findings.record(
                session, RUN, [RunImage(image, str(image), detections=rows, facts=facts)]
            )
        findings.finish(session, RUN, 1.0, {})


def test_a_run_says_what_its_second_stage_saves_and_why_tells_its_share(
    page: Page, site: Site
) -> None:
    made = boards.put(site, "second stage", 2, labelled=2)
    run(site, made)
    page.goto(f"/?project={made.project.id}&tab=review")
    row = page.get_by_role("row").filter(has_text=f"Run {RUN}")
    expect(row).to_contain_text("at 1 % escapes 1.00 → 0.00 an image")
    hands = Hands(page, site, "review")
    hands.open(made.project.name, run=str(RUN), stands="")
    page.get_by_text("Why", exact=True).click()
    chain = page.locator(".lp-chain li")
    expect(chain.filter(has_text="score 0.400 by the detector alone")).to_be_visible()
    expect(chain.filter(has_text="moved the score by +0.500")).to_be_visible()
