"""What Train, Detect, Models and Jobs show of work and of models; the test is the only worker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, Page, expect

from backend.domain import Job, JobState, Run
from backend.jobs import claims, kinds
from backend.jobs import listing as jobs
from backend.jobs.lanes import Lane
from backend.models import registry, trainings
from backend.storage import findings, tables
from tests.journeys import boards
from tests.journeys.conftest import Site

pytestmark = pytest.mark.slow

LEFT, RIGHT = (f"one => one.getBoundingClientRect().{side}" for side in ("left", "right"))


def trained(site: Site, project: int, *worth: float) -> None:
    """Models of that worth, v1 first; the last one was ready first, so it is the champion."""
    with site.database.write.begin() as session:
        made = [
            registry.add(
                session, project, "yolo", classes=("short",), snapshot_id=None, parameters={}
            )
            for _ in worth
        ]
        for model, map50 in reversed(list(zip(made, worth, strict=True))):
            registry.complete(session, model.id, site.files.put(b"w"), {"map50": map50})


def test_a_model_that_is_not_better_becomes_champion_only_after_a_question(
    desk: Page, idle: Site
) -> None:
    project = idle.project(images=2)
    trained(idle, project.id, 0.2, 0.9)
    desk.goto(f"/?project={project.id}&tab=models&model=v1")
    desk.get_by_role("button", name="Promote …").click()
    asked = desk.get_by_role("dialog", name="Promote v1")
    expect(asked.get_by_text("v2 is the champion.")).to_be_visible()
    expect(asked.get_by_text("v1 .200, v2 .900.")).to_be_visible()
    asked.get_by_role("button", name="Cancel").click()
    with idle.database.read.begin() as session:
        assert registry.find(session, project.id, "champion").name == "v2"
    desk.get_by_role("button", name="Promote …").click()
    asked.get_by_role("button", name="Promote").click()
    expect(desk.get_by_role("heading", name="v1, the champion")).to_be_visible()
    desk.get_by_role("link", name="v2").click()
    desk.get_by_role("button", name="Back to v2 …").click()
    desk.get_by_role("dialog").get_by_role("button", name="Back to v2").click()
    expect(desk.get_by_role("heading", name="v2, the champion")).to_be_visible()


def test_a_page_says_that_the_server_is_gone_until_it_answers_again(
    desk: Page, complaints: list[str]
) -> None:
    desk.goto("/?tab=jobs")
    expect(desk.get_by_text("No worker is alive.")).to_be_visible()
    said = desk.get_by_text(
        re.compile(r"^The server does not answer; what stands here is from \d\d:\d\d\.$")
    )
    desk.route("**/api/jobs/counts", lambda route: route.abort(), times=1)
    with desk.expect_event("requestfailed"):
        pass
    with desk.expect_response("**/api/jobs/counts"):
        expect(said).to_have_count(0)
    desk.context.set_offline(True)
    expect(said).to_be_visible()
    desk.context.set_offline(False)
    expect(said).to_have_count(0)
    assert complaints
    complaints.clear()


def asked(site: Site, project: int, seed: int) -> int:
    """The job of a training that waits."""
    with site.database.write.begin() as session:
        return trainings.retrain(session, project, "golden", seed=seed, author="ana").job.id


def begun(site: Site) -> Job:
    """The job that has waited longest, taken by a worker."""
    with site.database.write.begin() as session:
        job = claims.claim(session, "test", Lane.LONG)
        assert job is not None
        return job


@pytest.fixture
def queued(idle: Site) -> Iterator[tuple[int, Job, int]]:
    """A project whose v1 is being trained while v2 waits; nothing is left for the next test."""
    project = idle.project(images=12)
    first = asked(idle, project.id, 1)
    running = begun(idle)
    assert running.id == first
    second = asked(idle, project.id, 2)
    yield project.id, running, second
    with idle.database.write.begin() as session:
        for one in jobs.find(session, states=(JobState.QUEUED, JobState.PAUSED, JobState.RUNNING)):
            row = session.get_one(tables.JobRow, one.id)
            row.state, row.finished = JobState.CANCELLED, row.at


def test_every_training_that_has_not_ended_is_shown_with_its_buttons(
    desk: Page, idle: Site, queued: tuple[int, Job, int]
) -> None:
    project, running, waiting = queued
    desk.goto(f"/?project={project}&tab=train")
    first = desk.get_by_role("region", name="Training of v1")
    second = desk.get_by_role("region", name="Training of v2")
    expect(first.get_by_role("button", name="Pause")).to_be_visible()
    expect(first.get_by_role("button", name="Cancel")).to_be_visible()
    pause, cancel = (first.get_by_role("button", name=verb) for verb in ("Pause", "Cancel"))
    assert (
        cancel.evaluate(LEFT) - pause.evaluate(RIGHT) > 24
    )  # who means one does not hit the other
    expect(second.get_by_text("Waiting until job")).to_be_visible()
    expect(second.get_by_role("button", name="Cancel")).to_be_visible()
    headings = desk.get_by_role("heading", name=re.compile("Training of v"))
    expect(headings).to_have_text(["Training of v1", "Training of v2"])
    desk.goto("/?tab=jobs")
    desk.locator(f"[data-job='{waiting}']").get_by_role("link").first.click()
    expect(headings).to_have_text(["Training of v2", "Training of v1"])
    with idle.database.write.begin() as session:
        claims.finish(session, running, {})
    expect(first.get_by_text("Done", exact=True)).to_be_visible()


def stays(desk: Page, control: Locator) -> None:
    """Who stands on a control by keys stands on it after the page has asked for news twice."""
    control.focus()
    for _ in range(2):
        with desk.expect_response(re.compile(r"/(training|detect/now|changes)$")):
            pass
    desk.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    expect(control).to_be_focused()


def test_who_works_by_keys_stays_where_they_are_while_the_page_asks_for_news(
    desk: Page, idle: Site, queued: tuple[int, Job, int]
) -> None:
    project, running, _ = queued
    desk.goto(f"/?project={project}&tab=train")
    first = desk.get_by_role("region", name="Training of v1")
    stays(desk, first.get_by_role("button", name="Cancel"))
    with idle.database.write.begin() as session:
        claims.progress(session, running, 0.5, "Half of it.")
    stays(desk, first.get_by_role("button", name="Cancel"))
    desk.get_by_role("tab", name="Detect").click()
    desk.get_by_role("combobox", name="Model").select_option("golden")
    desk.get_by_role("combobox", name="Images").select_option("All images")
    desk.get_by_role("button", name=re.compile("Detect in")).click()
    detection = desk.locator(".at-work section").filter(has_text="Detection")
    stays(desk, detection.get_by_role("button", name="Cancel"))
    with idle.database.write.begin() as session:
        findings.start(session, Run(900, "golden", "golden", datetime.now(UTC), project_id=project))
        findings.finish(session, 900, 1.0, {})
    stays(desk, desk.get_by_role("link", name="Review"))


def test_a_link_in_a_dialog_leads_out_of_it(desk: Page, idle: Site) -> None:
    made = boards.put(idle, "to compare", 4, labelled=4)
    boards.detect(idle, made, 901)
    trained(idle, made.project.id, 0.2, 0.9)
    desk.goto(f"/?project={made.project.id}&tab=models&model=v2")
    desk.get_by_role("button", name="Evaluate").click()
    desk.get_by_role("dialog", name="Evaluate v2").get_by_role("button", name="Evaluate").click()
    told = desk.get_by_role("dialog", name="Evaluation of v2")
    expect(told.get_by_text("Waiting for a worker")).to_be_visible()
    changed = {"image_id": made.ids[0], "image": "the first", "gained": 1, "lost": 0}
    against = {"model": "v1", "run": 901, "images": [{**changed, "false_calls": 0}]}
    worth = {"map": 1, "map50": 1, "map50_95": 0.6, "per_class": {"short": {"truths": 1}}}
    with idle.database.write.begin() as session:
        [waiting] = jobs.find(session, kind="evaluate")
        job = claims.claim(session, "test", kinds.find("evaluate").lane)
        assert job is not None
        assert job.id == waiting.id
        claims.finish(session, job, {**worth, "iou": 0.5, "against": against})
    expect(told.locator(".facts span")).to_have_text(["mAP@.5 1.000", "mAP .5:.95 .600"])
    told.get_by_text("image by image").click()
    told.get_by_role("link", name="the first").click()
    expect(desk.get_by_role("dialog")).to_have_count(0)
    expect(desk.get_by_role("tab", name="Review")).to_have_attribute("aria-selected", "true")
    expect(desk.get_by_text("Run 901")).to_be_visible()


@pytest.mark.parametrize(
    "tab", ["overview", "browse", "annotate", "train", "detect", "review", "models"]
)
def test_a_link_to_no_project_says_so_and_leads_back(
    desk: Page, complaints: list[str], tab: str
) -> None:
    desk.goto(f"/?project=999&tab={tab}")
    expect(desk.get_by_role("heading", name="There is no project 999")).to_be_visible()
    expect(desk.get_by_role("tabpanel").get_by_role("heading")).to_have_count(0)
    desk.get_by_role("link", name="Show projects").click()
    expect(desk.get_by_role("heading", name="There is no project")).to_have_count(0)
    expect(desk.get_by_role("tabpanel").get_by_role("heading").first).to_be_visible()
    complaints.clear()


def test_a_link_to_no_run_or_no_model_says_so_and_leads_back(
    desk: Page, idle: Site, complaints: list[str]
) -> None:
    made = boards.put(idle, "linked", 4, labelled=4)
    boards.detect(idle, made, 902)
    trained(idle, made.project.id, 0.2, 0.9)
    for view in ("", "&view=wall"):
        desk.goto(f"/?project={made.project.id}&tab=review&run=999{view}")
        expect(desk.get_by_role("heading", name="There is no run 999")).to_be_visible()
        expect(desk.get_by_text("Nothing is left in this queue")).to_be_hidden()
        desk.get_by_role("link", name="Show the runs").click()
        expect(desk.get_by_role("link", name="Run 902")).to_be_visible()
    desk.goto(f"/?project={made.project.id}&tab=models&model=v99")
    expect(desk.get_by_role("heading", name="There is no model v99")).to_be_visible()
    desk.get_by_role("link", name="Show the champion").click()
    expect(desk.get_by_role("heading", name="v2, the champion")).to_be_visible()
    complaints.clear()


def test_what_cannot_be_checked_cannot_be_trained(
    desk: Page, idle: Site, complaints: list[str]
) -> None:
    project = idle.project(images=12)
    desk.goto(f"/?project={project.id}&tab=train")
    desk.get_by_role("combobox", name="Family").select_option("yolo")
    report = desk.locator(".panel").filter(has_text="Before it starts")
    expect(report.get_by_role("table")).to_be_visible()
    expect(desk.get_by_role("button", name="Retrain")).to_be_enabled()
    desk.get_by_text("Advanced", exact=True).click()
    seed = desk.get_by_role("spinbutton", name="Seed")
    seed.fill("-1")
    seed.blur()
    expect(report.locator("p.bad")).to_contain_text("seed")
    expect(report.get_by_role("table")).to_have_count(0)
    expect(desk.get_by_role("button", name="Retrain")).to_be_disabled()
    seed.fill("1")
    seed.blur()
    expect(desk.get_by_role("button", name="Retrain")).to_be_enabled()
    [refusal] = complaints
    assert "422" in refusal
    complaints.clear()
