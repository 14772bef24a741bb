"""What a page shows of work that waits: no worker lives here, so that it waits for certain."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from backend.domain import JobState
from backend.jobs import queue
from backend.models import trainings
from backend.storage import tables
from tests.journeys.conftest import Site

pytestmark = pytest.mark.slow


def asked(site: Site) -> int:
    """A training that somebody else has asked for."""
    project = site.project(images=12)
    with site.database.write.begin() as session:
        return trainings.retrain(session, project.id, "golden", author="ana").job.id


def test_a_click_on_retrain_shows_the_place_in_the_queue_and_when_it_begins(
    desk: Page, idle: Site
) -> None:
    boards = idle.project(images=12)
    past = asked(idle)
    with idle.database.write.begin() as session:
        row = session.get_one(tables.JobRow, past)
        row.state, row.attempt = JobState.DONE, 1
        row.started, row.finished = row.at, row.at + timedelta(minutes=3)
    asked(idle)
    asked(idle)
    desk.goto(f"/?project={boards.id}&tab=train")
    desk.get_by_role("button", name="Retrain").click()
    expect(
        desk.get_by_text("Waiting, place 3 · starts in about 6 min 0 s · takes about 3 min 0 s")
    ).to_be_visible()
    desk.reload()
    expect(desk.get_by_text("Waiting, place 3")).to_be_visible()


def test_a_waiting_job_is_cancelled_and_tried_again_and_its_log_says_so(
    desk: Page, idle: Site
) -> None:
    job = asked(idle)
    desk.goto("/?tab=jobs")
    row = desk.locator(f"[data-job='{job}']")
    row.get_by_role("button", name="Log").click()
    row.get_by_role("button", name="Cancel").click()
    expect(row.get_by_text("Cancelled")).to_be_visible()
    log = desk.get_by_role("log", name=f"Log of job {job}")
    expect(log).to_contain_text("while it waited")
    row.get_by_role("button", name="Retry").click()
    expect(log).to_contain_text("Queued again")
    row.get_by_role("button", name="Cancel").click()
    expect(row.get_by_text("Cancelled")).to_be_visible()
    with idle.database.read.begin() as session:
        assert queue.get(session, job).state == "cancelled"
