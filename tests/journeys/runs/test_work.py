"""Work that a worker does, asked for and followed in the browser: detect, train, import, cancel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from backend.domain import Project
from backend.jobs import kinds, queue
from backend.labels import gallery
from backend.models import registry, trainings
from tests.journeys import conftest
from tests.journeys.conftest import Site

pytestmark = pytest.mark.slow

LONG = 240_000
SEEN_BATCH = re.compile(r"Epoch \d+ of 500, batch \d+ of \d+: loss [\d.]+, [\d.]+ images/s")


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with a worker beside it."""
    with conftest.served(tmp_path_factory.mktemp("working")) as started:
        yield started


@pytest.fixture(scope="module")
def boards(working: Site) -> Project:
    return working.project(images=12)


@pytest.fixture
def desk(browser: Browser, working: Site) -> Iterator[Page]:
    """A page on the site with a worker."""
    with conftest.watched(browser, working) as opened:
        yield opened


def test_the_golden_board_detects_without_a_model(desk: Page, boards: Project) -> None:
    desk.goto(f"/?project={boards.id}&tab=detect")
    desk.get_by_role("combobox", name="Images").select_option("All images")
    desk.get_by_role("button", name="Detect in 12 images").click()
    run = desk.get_by_role("row").filter(has=desk.get_by_role("link", name="Review"))
    expect(run.get_by_role("cell", name="12", exact=True)).to_be_visible(timeout=LONG)
    desk.goto(f"/?project={boards.id}&tab=browse&proposals=yes")
    expect(desk.locator(".cell img").first).to_be_visible()


def test_a_golden_model_is_trained_and_measured(desk: Page, working: Site, boards: Project) -> None:
    desk.goto(f"/?project={boards.id}&tab=train")
    desk.get_by_role("button", name="Retrain").click()
    desk.get_by_role("link", name="Look at v1").click(timeout=LONG)
    expect(desk.get_by_role("heading", name="v1, the champion")).to_be_visible()
    expect(desk.get_by_role("heading", name="What was taken for what")).to_be_visible()
    expect(desk.get_by_role("heading", name="F1 over score")).to_be_visible()
    with working.database.read.begin() as session:
        (model,) = registry.models(session, boards.id)
    assert (model.state, model.champion, "map50" in model.metrics) == ("ready", True, True)


def test_two_models_are_compared_and_the_better_promoted_by_a_question(
    desk: Page, working: Site, boards: Project
) -> None:
    with working.database.write.begin() as session:
        trainings.retrain(session, boards.id, "golden", start="scratch")
    desk.goto(f"/?project={boards.id}&tab=models&model=v2")
    desk.get_by_role("button", name="Evaluate").click(timeout=LONG)
    asked = desk.get_by_role("dialog", name="Evaluate v2")
    asked.get_by_label("Overlap that counts as found (IoU)").fill("0.33")
    asked.get_by_label("Compare with").select_option("v1")
    asked.get_by_role("button", name="Evaluate").click()
    told = desk.get_by_role("dialog", name="Evaluation of v2")
    expect(told.get_by_text("v2 is not clearly different from v1 (mAP@.33")).to_be_visible(
        timeout=LONG
    )
    expect(told.get_by_role("columnheader", name="Δ to v1")).to_be_visible()
    told.get_by_role("button", name="Close").click()
    desk.get_by_role("button", name="Promote …").click()
    asked = desk.get_by_role("dialog", name="Promote v2")
    expect(asked.get_by_text("v1 is the champion.")).to_be_visible()
    asked.get_by_role("button", name="Promote").click()
    expect(desk.get_by_role("heading", name="v2, the champion")).to_be_visible()
    desk.goto(f"/?project={boards.id}&tab=models&model=v1")
    desk.get_by_role("button", name="Back to v1 …").click()
    asked = desk.get_by_role("dialog", name="Back to v1")
    asked.get_by_role("button", name="Back to v1").click()
    expect(desk.get_by_role("heading", name="v1, the champion")).to_be_visible()


def test_what_another_program_found_is_judged_beside_a_model(
    desk: Page, working: Site, boards: Project, tmp_path: Path
) -> None:
    with working.database.read.begin() as session:
        images = list(gallery.every(session, boards.id, gallery.Filter()))
    rows = ["name,label,score,x1,y1,x2,y2"]
    for item in images:
        rows += [
            f"{item.image.name},{box.label},0.9,{box.x1},{box.y1},{box.x2},{box.y2}"
            for box in item.boxes
        ]
    (tmp_path / "theirs.csv").write_text("\n".join([*rows, "a board of theirs,spur,0.5,1,1,9,9"]))
    desk.goto(f"/?project={boards.id}&tab=models&model=v1")
    desk.get_by_role("button", name="Judge a file …").click()
    asked = desk.get_by_role("dialog", name="Judge a file beside v1")
    asked.get_by_label("What the other program found").set_input_files(tmp_path / "theirs.csv")
    asked.get_by_role("button", name="Judge", exact=True).click()
    told = desk.get_by_role("dialog", name="theirs.csv beside v1")
    expect(told.get_by_text("mAP@.5 1.000")).to_be_visible(timeout=LONG)
    expect(told.get_by_role("columnheader", name="Δ to v1")).to_be_visible()
    expect(told.get_by_text("of images that it is not judged by")).to_be_visible()


def test_a_job_shows_its_log_file(desk: Page, boards: Project) -> None:
    assert boards
    desk.goto("/?tab=jobs")
    desk.get_by_role("combobox", name="All kinds").select_option("Training")
    expect(desk.locator(".job").filter(has_not_text="Training")).to_have_count(0)
    desk.get_by_role("button", name="Log", exact=True).first.click()
    expect(desk.get_by_role("log").get_by_text("Queued.")).to_be_visible()
    desk.get_by_role("button", name="Show the log file").click()
    expect(desk.get_by_text("INFO workers.context: Epoch 1 of 1")).to_be_visible()


@pytest.mark.again
def test_a_training_is_watched_paused_found_again_and_cancelled(desk: Page, working: Site) -> None:
    project = working.project(images=12, name="to be watched")
    desk.goto(f"/?project={project.id}&tab=train")
    desk.get_by_role("combobox", name="Family").select_option("yolo")
    desk.get_by_role("combobox", name="Start from").select_option("scratch")
    for name, value in (("Epochs", "500"), ("Image size", "96"), ("Batch", "4")):
        number = desk.get_by_role("spinbutton", name=name, exact=True)
        number.fill(value)
        number.blur()
    desk.get_by_role("button", name="Retrain").click()
    expect(desk.get_by_text(SEEN_BATCH)).to_be_visible(timeout=LONG)
    for _ in range(2):
        for curve in ("Loss", "Worth", "Learning rate", "Images/s", "Processor, %"):
            title = desk.get_by_role("heading", name=curve, exact=True, include_hidden=True)
            drawn = desk.locator(".plot").filter(has=title)
            expect(drawn.locator("polyline").first).to_be_attached(timeout=LONG)
        desk.reload()
    desk.get_by_role("button", name="Pause").click()
    expect(desk.get_by_text("Paused", exact=True)).to_be_visible(timeout=LONG)
    desk.get_by_role("button", name="Resume").click()
    expect(desk.get_by_text(SEEN_BATCH)).to_be_visible(timeout=LONG)
    desk.get_by_role("button", name="Cancel").click()
    desk.get_by_role("button", name="Let it go on").click()
    desk.get_by_role("button", name="Cancel").click()
    desk.get_by_role("button", name="Cancel the training").click()
    expect(desk.get_by_text("Cancelled", exact=True)).to_be_visible(timeout=60_000)


def test_pictures_are_uploaded_and_found_in_the_grid(
    desk: Page, working: Site, boards: Project, tmp_path: Path
) -> None:
    project = working.project(images=3, name="to import into")
    with working.database.read.begin() as session:
        found = gallery.page(session, boards.id, gallery.Filter(), 0, 2)
    for item in found.items:
        (tmp_path / f"new-{item.image.name}").write_bytes(working.files.read(item.image.sha256))
    desk.goto("/?tab=projects")
    card = desk.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Import").click()
    desk.get_by_label("Pictures, label files or an archive").set_input_files(
        sorted(tmp_path.iterdir())
    )
    desk.get_by_label(re.compile("^Lot")).fill("lot 7")
    desk.get_by_role("dialog").get_by_role("button", name="Import").click()
    expect(desk.get_by_text("were there already")).to_be_visible(timeout=LONG)
    with working.database.read.begin() as session:
        assert gallery.page(session, project.id, gallery.Filter()).total >= 3
        assert gallery.page(session, project.id, gallery.Filter(groups=("lot 7",))).total == 2


@pytest.mark.again
def test_a_place_on_the_server_comes_in_and_says_how_far_it_is(
    desk: Page, working: Site, tmp_path: Path
) -> None:
    project = working.project(images=3, name="to take in")
    with working.database.read.begin() as session:
        (item,) = gallery.page(session, project.id, gallery.Filter(), 0, 1).items
    picture = working.files.read(item.image.sha256)
    for number in range(900):
        (tmp_path / f"{number:03}.png").write_bytes(picture)
    desk.goto("/?tab=projects")
    card = desk.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Import").click()
    desk.get_by_label("Or a place on the server").fill(str(tmp_path))
    desk.get_by_role("dialog").get_by_role("button", name="Import").press("Enter")
    expect(desk.get_by_text(re.compile(r"\d+ of 900 pictures"))).to_be_visible(timeout=LONG)
    expect(desk.get_by_text("900 images added")).to_be_visible(timeout=LONG)
    with working.database.read.begin() as session:
        assert gallery.page(session, project.id, gallery.Filter()).total == 903


def test_an_export_is_downloaded(desk: Page, boards: Project, tmp_path: Path) -> None:
    desk.goto("/?tab=projects")
    card = desk.locator(".project").filter(has_text=boards.name)
    card.get_by_role("button", name="Export").click()
    desk.get_by_role("dialog").get_by_role("button", name="Export").click()
    link = desk.get_by_role("link", name="Download")
    expect(link).to_be_visible(timeout=LONG)
    with desk.expect_download() as download:
        link.click()
    download.value.save_as(tmp_path / "out.zip")
    assert (tmp_path / "out.zip").read_bytes()[:2] == b"PK"


def test_what_is_chosen_in_browse_is_exported_alone(desk: Page, boards: Project) -> None:
    desk.goto(f"/?project={boards.id}&tab=browse")
    desk.locator(".cell").first.click(modifiers=["Control"])
    desk.locator(".bulk").get_by_role("button", name="Export").click()
    asked = desk.get_by_role("dialog")
    asked.get_by_label("Also those that are not done").check()
    asked.get_by_role("button", name="Export").click()
    expect(desk.get_by_text(re.compile("^1 image and"))).to_be_visible(timeout=LONG)


def test_an_export_lists_what_could_not_be_written(desk: Page, working: Site) -> None:
    project = working.project("mask", images=3, name="without goldens")
    desk.goto("/?tab=projects")
    card = desk.locator(".project").filter(has_text=project.name)
    card.get_by_role("button", name="Export").click()
    asked = desk.get_by_role("dialog", name=f"Export {project.name}")
    asked.get_by_label("Format").select_option("deeppcb")
    asked.get_by_role("button", name="Export").click()
    expect(asked.get_by_role("link", name="Download")).to_be_visible(timeout=LONG)
    with working.database.read.begin() as session:
        done = gallery.every(session, project.id, gallery.Filter(states=("done",)))
        names = [one.image.name for one in done]
    expect(asked.get_by_text("Left out by their state: 1 new.")).to_be_visible()
    said = "it has no golden, so it is written without a template."
    assert asked.get_by_role("listitem").all_inner_texts() == [f"{name} {said}" for name in names]


def test_a_waiting_job_is_cancelled(desk: Page, working: Site, boards: Project) -> None:
    with working.database.write.begin() as session:
        # It waits for a job that never ends, so it stays where it is.
        first = queue.enqueue(session, kinds.Check(boards.id), author="ana")
        queue.pause(session, first.id)
        job = queue.enqueue(session, kinds.Check(boards.id), author="ana", after=first.id)
    desk.goto("/?tab=jobs")
    row = desk.locator(f"[data-job='{job.id}']")
    desk.get_by_role("combobox", name="All kinds").select_option("Training")
    expect(row).not_to_be_attached()
    desk.get_by_role("combobox", name="All kinds").select_option("Check of the worker")
    desk.get_by_role("combobox", name="Everybody").select_option("ana")
    row.get_by_role("button", name="Cancel").click()
    expect(row.get_by_text("Cancelled")).to_be_visible()
    desk.get_by_role("combobox", name="All states").select_option("Failed")
    expect(desk.get_by_text("Nothing of this kind has ended.")).to_be_visible()
    with working.database.read.begin() as session:
        assert queue.get(session, job.id).state == "cancelled"
