"""A search on Train: asked for, watched, stopped, made longer, its best trained in full."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from backend.domain import Search, TrialState
from backend.jobs import claims, kinds
from backend.jobs.lanes import Lane
from backend.models import registry, searches, trials
from backend.settings import Settings
from tests.journeys.conftest import Site
from workers import handlers
from workers.context import Context

pytestmark = pytest.mark.slow


def newest(site: Site, project: int) -> Search:
    with site.database.read.begin() as session:
        return searches.of_project(session, project)[0]


def tried(site: Site, search: Search, *values: float) -> None:
    """Trials that are done and worth so much, and one that is under way."""
    with site.database.write.begin() as session:
        for value in (*values, None):
            found = trials.draw(session, search, trials.of_search(session, search.id))
            assert found is not None
            trials.epoch(session, found, 1, {"map50": value or 0.1}, 2.0)
            if value is not None:
                trials.end(session, found, TrialState.DONE, value=value)


def test_what_a_training_sees_is_shown_as_it_is_set(desk: Page, idle: Site) -> None:
    project = idle.project(images=12)
    desk.goto(f"/?project={project.id}&tab=train")
    expect(desk.get_by_text("What it sees")).to_be_hidden()  # the golden board changes nothing
    desk.get_by_role("combobox", name="Family").select_option("faster_rcnn")
    desk.get_by_text("What it sees").click()
    expect(desk.get_by_text("Waiting for a worker")).to_be_visible()
    glimpse(idle)
    shown = desk.get_by_alt_text("As the training sees it")
    expect(shown).not_to_have_count(0)
    assert desk.locator(".tries rect title").count() > 0
    before = shown.first.get_attribute("src")
    desk.get_by_label("Image size").fill("320")
    desk.get_by_label("Image size").blur()
    assert glimpse(idle)["image_size"] == 320
    expect(shown.first).not_to_have_attribute("src", str(before))


def glimpse(site: Site) -> Mapping[str, Any]:
    """A worker looks; gives what it was told."""
    settings = Settings(home=site.home)
    end = time.monotonic() + 120
    while True:
        with site.database.write.begin() as session:
            job = claims.claim(session, "test", Lane.INSTANT)
        if job is not None:
            break
        assert time.monotonic() < end
        time.sleep(0.05)
    request = kinds.decode(job.kind, job.request)
    context = Context(job, request, site.database, site.files, settings, site.home)
    result = handlers.find(job.kind).run(context)
    with site.database.write.begin() as session:
        claims.finish(session, job, result)
    return dict(job.request["parameters"])


def test_a_search_is_asked_for_watched_and_steered(desk: Page, idle: Site) -> None:
    project = idle.project(images=12)
    desk.goto(f"/?project={project.id}&tab=train")
    desk.get_by_text("How it learns").click()
    desk.get_by_label("tolerance").fill("1.5")
    desk.get_by_text("Search for better parameters").click()
    desk.get_by_label("Trials", exact=True).fill("6")
    desk.get_by_label("How values are chosen").select_option("guided")
    desk.get_by_role("button", name="Search", exact=True).click()
    panel = desk.get_by_role("region", name="Searches")
    expect(panel.get_by_text("queued: 6 trials")).to_be_visible()
    search = newest(idle, project.id)
    assert search.method == "guided"
    assert search.parameters["extra"]["tolerance"] == 1.5
    tried(idle, search, 0.5, 0.75)
    with idle.database.write.begin() as session:
        job = claims.claim(session, "test", Lane.LONG)
        assert job is not None
    expect(panel.get_by_role("row", name="1 done, the best .750")).to_be_visible()
    panel.get_by_role("button", name="Stop trial 2").click()
    expect(panel.get_by_text("running: 6 trials")).to_be_visible()
    panel.get_by_role("button", name="10 more trials").click()
    expect(panel.get_by_text("running: 16 trials")).to_be_visible()
    panel.get_by_role("button", name="Stop all").click()
    expect(panel.get_by_text("running, stopping: 16 trials")).to_be_visible()
    with idle.database.read.begin() as session:
        assert trials.get(session, search.id, 2).stopping
        best = trials.get(session, search.id, 1)
    panel.get_by_role("button", name="Train in full with the parameters of trial 1").click()
    expect(desk.get_by_text("Training of v2 is queued.")).to_be_visible()
    with idle.database.read.begin() as session:
        model = registry.find(session, project.id, "v2")
    changed = {**model.parameters, **model.parameters.get("extra", {})}
    assert {name: changed[name] for name in best.parameters} == best.parameters
