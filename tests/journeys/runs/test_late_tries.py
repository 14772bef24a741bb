"""Trying pictures: boxes and words stand beside the picture that they are of, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from backend.domain import Project
from backend.jobs import claims
from backend.jobs.lanes import Lane
from backend.runs import detection
from tests.journeys.conftest import Site

pytestmark = pytest.mark.slow


def opened(desk: Page, site: Site, folder: Path) -> list[Path]:
    """Detect of a new project, with two of its pictures in a folder to drop."""
    project: Project = site.project(images=3)
    with site.database.read.begin() as session:
        subjects = list(detection.subjects(session, project.id, {}))[:2]
    for one in subjects:
        (folder / f"tried {one.image_id}.png").write_bytes(site.files.read(one.sha256))
    desk.goto(f"/?project={project.id}&tab=detect")
    desk.get_by_role("combobox", name="Model").select_option("golden")
    return sorted(folder.glob("*.png"))


def answer(site: Site, label: str) -> None:
    """What the model says of the picture that has waited longest."""
    found = {"x1": 5, "y1": 5, "x2": 40, "y2": 40, "label": label, "score": 0.9}
    with site.database.write.begin() as session:
        job = claims.claim(session, "test", Lane.INSTANT)
        assert job is not None
        claims.finish(session, job, {"detections": [found], "milliseconds": 5.0})


def test_what_was_found_in_one_picture_never_stands_on_the_next(
    desk: Page, idle: Site, tmp_path: Path
) -> None:
    first, second = opened(desk, idle, tmp_path)
    chooser = desk.locator("input[type=file][accept='image/*']")
    held = list[Route]()
    desk.route("**/detect/try/*", lambda route: held.append(route), times=1)
    with desk.expect_request("**/detect/try/*"):
        chooser.set_input_files(first)
        desk.get_by_alt_text(first.name).wait_for()
        answer(idle, "of the first")
    chooser.set_input_files(second)
    desk.get_by_alt_text(second.name).wait_for()
    answer(idle, "of the second")
    expect(desk.get_by_text("1 detection: of the second .90.")).to_be_visible()
    with desk.expect_response("**/detect/try/*"):
        held[0].continue_()
    # Whatever the page does with that answer is done before it hears another.
    desk.evaluate("fetch('/health')")
    expect(desk.get_by_text("1 detection: of the second .90.")).to_be_visible()
    titles = desk.locator(".try rect title").all_text_contents()
    assert titles == ["of the second .90"]


def test_a_refused_file_does_not_leave_the_picture_before_it_standing(
    desk: Page, idle: Site, complaints: list[str], tmp_path: Path
) -> None:
    first, _ = opened(desk, idle, tmp_path)
    chooser = desk.locator("input[type=file][accept='image/*']")
    chooser.set_input_files(first)
    desk.get_by_alt_text(first.name).wait_for()
    answer(idle, "of the first")
    expect(desk.get_by_text("1 detection: of the first .90.")).to_be_visible()
    (tmp_path / "words.png").write_text("These are words.")
    chooser.set_input_files(tmp_path / "words.png")
    expect(desk.get_by_text("words.png is not a picture that Loupe reads")).to_be_visible()
    expect(desk.locator(".try img, .try svg")).to_have_count(0)
    expect(desk.get_by_text("Drop pictures here, or click to choose.")).to_be_visible()
    [refusal] = complaints
    assert "400" in refusal or "422" in refusal
    complaints.clear()
