"""Detect in the browser: pictures tried at once, what a run will take, what it could not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.domain import Task
from backend.jobs import listing as jobs_of
from backend.labels import gallery, images
from backend.labels.images import NewImage
from backend.models import registry
from backend.projects import catalogue, classes, large_pictures
from backend.review import agenda
from backend.review.agenda import Choice
from backend.review.behind import Behind
from backend.review.boards import sheet
from backend.runs import detection
from backend.sample import boards as drawn_boards
from backend.storage import findings
from tests import printed
from tests.journeys import boards, conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

pytestmark = pytest.mark.slow

LONG = 240_000
LOT = 40
MEASURED = (("openvino", "bf16", 0.942), ("openvino", "int8", 0.938), ("torch", "f32", 0.941))


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with a worker beside it."""
    with conftest.served(tmp_path_factory.mktemp("trying")) as started:
        yield started


@pytest.fixture
def desk(browser: Browser, working: Site) -> Iterator[Page]:
    with conftest.watched(browser, working) as opened:
        yield opened


def test_dropped_pictures_show_their_boxes_at_once_and_are_stored_only_when_asked(
    desk: Page, working: Site, tmp_path: Path
) -> None:
    project = working.project(images=4, name="to try")
    with working.database.read.begin() as session:
        subjects = list(detection.subjects(session, project.id, {}))[:2]
    for one in subjects:
        (tmp_path / f"tried {one.image_id}.png").write_bytes(working.files.read(one.sha256))
    pictures = sorted(tmp_path.glob("*.png"))
    desk.goto(f"/?project={project.id}&tab=detect")
    desk.get_by_role("combobox", name="Model").select_option("golden")
    chooser = desk.locator("input[type=file][accept='image/*']")
    said = re.compile(r"In ([\d.]+) s, of which the model took \d+ ms\.")
    chooser.set_input_files(pictures[:1])  # the resident process loads what it needs
    expect(desk.get_by_text(said)).to_have_count(1, timeout=LONG)
    chooser.set_input_files(pictures)
    expect(desk.get_by_text(said)).to_have_count(2, timeout=LONG)
    for told in desk.get_by_text(said).all_inner_texts():
        found = said.search(told)
        assert found
        assert float(found[1]) > 0
    expect(desk.locator(".try rect").first).to_be_attached()
    with working.database.read.begin() as session:
        assert len(list(detection.subjects(session, project.id, {}))) == 4
        assert findings.runs(session, project.id) == []
    other = working.project(images=2, name="to keep")
    desk.goto(f"/?project={other.id}&tab=detect")
    desk.get_by_role("combobox", name="Model").select_option("golden")
    chooser.set_input_files(pictures)
    refused = re.compile(r"fits none of the project's \d+ golden")
    expect(desk.get_by_text(refused)).to_have_count(2)
    desk.get_by_role("textbox", name=re.compile("^Lot")).fill(" lot 7 ")
    desk.get_by_role("button", name="Add these 2 pictures to the project").click()
    expect(desk.get_by_text("2 pictures added.")).to_be_visible()
    lots = {f"lot 7/{path.name}": "lot 7" for path in pictures}
    with working.database.read.begin() as session:
        stored = gallery.every(session, other.id, gallery.Filter())
        assert {one.image.name: one.image.group for one in stored}.items() >= lots.items()


@pytest.mark.again
def test_a_run_foresees_what_is_known_and_tells_what_it_could_not_read(
    desk: Page, working: Site
) -> None:
    project = working.project(images=24, name="to foresee")
    with working.database.read.begin() as session:
        broken = next(iter(detection.subjects(session, project.id, {})))
    file = working.files.local_path(broken.sha256)
    content = file.read_bytes()
    file.write_bytes(b"no picture")
    desk.goto(f"/?project={project.id}&tab=detect")
    desk.get_by_role("combobox", name="Model").select_option("golden")
    desk.get_by_role("combobox", name="Images").select_option("All images")
    expect(desk.get_by_text("No run of this model says yet how long")).to_be_visible()
    desk.get_by_role("button", name="Detect in 24 images").click()
    desk.get_by_role("row").get_by_role("button", name="1", exact=True).click(timeout=LONG)
    expect(desk.get_by_role("dialog").get_by_text("is not a picture")).to_be_visible()
    desk.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(desk.get_by_text("images/s").first).to_be_visible(timeout=LONG)
    told = r"23 known from run \d+, 1 new\. About [\d.]+ s at the [\d,]+ images/s of run \d+"
    expect(desk.get_by_text(re.compile(told))).to_be_visible()
    expect(desk.get_by_role("button", name="Detect in 1 new image")).to_be_enabled()
    desk.get_by_label("Look again at images that this model knows").check()
    expect(desk.get_by_role("button", name="Detect in 24 images")).to_be_enabled()
    file.write_bytes(content)


def test_how_large_pictures_are_looked_at_is_kept_for_the_project(
    desk: Page, working: Site
) -> None:
    project = working.project(images=2, name="to tile")
    desk.goto(f"/?project={project.id}&tab=detect")
    large = desk.get_by_role("combobox", name="Large pictures")
    expect(large).to_have_value("auto")
    large.select_option("Always in tiles")
    expect(desk.get_by_text("Large pictures: always in tiles.")).to_be_visible()
    with working.database.read.begin() as session:
        assert large_pictures.wish(session, project.id) == "on"
    desk.reload()
    expect(large).to_have_value("on")


def test_the_loss_of_int8_stands_there_before_it_is_chosen(desk: Page, working: Site) -> None:
    project = working.project(images=3, name="to quantise")
    with working.database.write.begin() as session:
        model = registry.add(
            session, project.id, "yolo", classes=("short",), snapshot_id=None, parameters={}
        )
        registry.complete(session, model.id, working.files.put(b"a"), {})
    desk.goto(f"/?project={project.id}&tab=detect")
    runtime = desk.get_by_role("combobox", name="Runtime")
    runtime.select_option("OpenVINO int8, faster")
    expect(desk.get_by_text("is not measured for this model yet")).to_be_visible()
    expect(desk.get_by_role("button", name="Measure it on the validation split")).to_be_visible()
    rows = [
        {"runtime": way, "precision": name, "map50": value, "map50_95": value / 2}
        for way, name, value in MEASURED
    ]
    with working.database.write.begin() as session:
        registry.keep_runtimes(session, model.id, rows)
    desk.reload()
    runtime.select_option("OpenVINO int8, faster, mAP@.5 .938")
    told = "int8 against bf16 on validation pictures: mAP@.5 0.938 (-0.004)"
    expect(desk.get_by_text(told)).to_be_visible()


def test_a_runtime_is_chosen_among_those_that_the_model_has(desk: Page, working: Site) -> None:
    project = working.project(images=3, name="to run")
    with working.database.write.begin() as session:
        model = registry.add(
            session, project.id, "yolo", classes=("short",), snapshot_id=None, parameters={}
        )
        registry.complete(session, model.id, working.files.put(b"b"), {})
        rows = [
            {"runtime": way, "precision": name, "map50": value, "map50_95": value / 2}
            for way, name, value in MEASURED
        ]
        registry.keep_runtimes(session, model.id, rows)
    desk.goto(f"/?project={project.id}&tab=detect")
    desk.get_by_role("combobox", name="Images").select_option("All images")
    runtime = desk.get_by_role("combobox", name="Runtime")
    runtime.select_option("PyTorch f32, mAP@.5 .941")
    desk.get_by_role("button", name="Detect in 3 images").click()
    expect(desk.get_by_text(re.compile("The detection (waits|has begun)"))).to_be_visible()
    with working.database.read.begin() as session:
        [job] = jobs_of.find(session, project_id=project.id, kind="detect")
    asked = job.request["options"]
    assert (asked["runtime"], asked["precision"]) == ("torch", "f32")
    desk.get_by_role("combobox", name="Model").select_option("golden")
    expect(runtime.get_by_role("option")).to_have_text(["Automatic"])


@pytest.mark.again
def test_images_chosen_or_filtered_in_browse_are_looked_at(desk: Page, working: Site) -> None:
    project = working.project(images=6, name="to choose")
    with working.database.read.begin() as session:
        ids = {one.name: one.image_id for one in detection.subjects(session, project.id, {})}
    first, last = min(ids), max(ids)
    desk.goto(f"/?project={project.id}&tab=browse&text={last}")
    expect(desk.locator(".cell")).to_have_count(1)
    desk.get_by_role("tab", name="Detect").click()
    images = desk.get_by_role("combobox", name="Images")
    images.select_option("As Browse is filtered")
    expect(desk.get_by_role("button", name="Detect in 1 image")).to_be_enabled()
    desk.goto(f"/?project={project.id}&tab=browse")
    desk.locator(".cell").first.click(modifiers=["Control"])
    desk.get_by_role("button", name="Detect", exact=True).click()
    expect(images).to_have_value("chosen")
    desk.get_by_role("combobox", name="Model").select_option("golden")
    desk.get_by_role("button", name="Detect in 1 image").click()
    expect(desk.get_by_role("row").get_by_text("images/s")).to_be_visible(timeout=LONG)
    with working.database.read.begin() as session:
        [run] = findings.runs(session, project.id)
        assert findings.seen(session, run.id) == {ids[first]}


def test_a_lot_is_dropped_judged_reviewed_and_reported(
    desk: Page, working: Site, tmp_path: Path
) -> None:
    project, folder = _bare(working, tmp_path / "lot 7")
    (folder / "torn.png").write_bytes(b"no picture")
    desk.goto(f"/?project={project}&tab=detect")
    desk.get_by_role("combobox", name="Model").select_option("golden")
    desk.get_by_label("Folder of a lot").set_input_files(folder)
    expect(desk.get_by_label("Name of the lot")).to_have_value("lot 7")
    desk.get_by_role("button", name="Judge this lot").click()
    expect(desk.get_by_text("lot 7 is judged.")).to_be_visible(timeout=LONG)
    expect(desk.get_by_text("torn.png: ")).to_be_visible()
    expect(desk.get_by_label("Name of the lot")).to_have_value("")
    desk.get_by_role("link", name="Verdicts").click()
    rows = desk.locator(".lp-boards tbody tr")
    expect(rows).to_have_count(LOT)
    with working.database.read.begin() as session:
        run = findings.runs(session, project)[0].id
        stands = {one: _behind(session, run, one) for one in ("fail", "pass", "doubt")}
    assert stands["fail"] + stands["pass"] == LOT
    for verdict, number in stands.items():
        desk.get_by_label("Stands").select_option(verdict)
        expect(rows).to_have_count(number)
    desk.get_by_role("button", name="Show all").click()
    expect(rows).to_have_count(LOT)
    rows.nth(1).get_by_role("link").nth(1).focus()
    desk.keyboard.press("ArrowUp")
    desk.keyboard.press("Enter")
    _review_five(desk, working)
    with working.database.read.begin() as session:
        counted = {name: tuple(n) for name, *n in session.execute(text(COUNTED), {"run": run})}
        read = sheet.read(session, run)
    assert {name: boards for name, (boards, _) in counted.items()} == {
        name: number
        for name, number in (("fail", read.counted.failed), ("pass", read.counted.passed))
        if number
    }
    assert sum(judged for _, judged in counted.values()) == sum(read.judges.values()) == 5
    _report(desk, run, tmp_path, read)


COUNTED = """
    WITH said AS (
        SELECT s.image_id, s.verdict FROM decision s
        WHERE s.run_id = :run AND s.undoes IS NULL AND s.id = (
            SELECT max(n.id) FROM decision n WHERE n.run_id = :run AND n.image_id = s.image_id
            AND n.idx IS NULL AND n.verdict IN ('pass', 'fail'))
    ), ruled AS (
        SELECT r.image_id, EXISTS (SELECT 1 FROM box b WHERE b.image_id = r.image_id)
            OR EXISTS (
                SELECT 1 FROM detection d
                WHERE d.run_id = :run AND d.image_id = r.image_id AND d.score >= .5
                AND NOT EXISTS (SELECT 1 FROM decision n WHERE n.run_id = :run
                                AND n.image_id = d.image_id AND n.idx = d.idx)) AS fails
        FROM run_image r WHERE r.run_id = :run AND r.status = 'ok'
    )
    SELECT coalesce(said.verdict, CASE WHEN ruled.fails THEN 'fail' ELSE 'pass' END) AS verdict,
           count(*) AS boards, count(said.image_id) AS judged
    FROM ruled LEFT JOIN said ON said.image_id = ruled.image_id GROUP BY 1
"""


def _bare(site: Site, folder: Path) -> tuple[int, Path]:
    """A project of goldens alone, and the boards of a lot as files."""
    folder.mkdir()
    drawn = list(drawn_boards.draw(LOT, 7))
    for one in drawn:
        if not one.is_golden:
            (folder / f"{one.name}.png").write_bytes(boards.png(one.pixels))
    wide, high = drawn[0].pixels.shape[1], drawn[0].pixels.shape[0]
    new = [
        NewImage(one.name, site.files.put(boards.png(one.pixels)), wide, high, is_golden=True)
        for one in drawn
        if one.is_golden
    ]
    with site.database.write.begin() as session:
        project = catalogue.create(session, "a lot", Task.DETECT).id
        for label in drawn_boards.CLASSES:
            classes.ensure(session, project, label)
        images.add(session, project, new, "import")
    return project, folder


def _behind(session: Session, run: int, verdict: str) -> int:
    return agenda.counts(session, run, Choice(behind=Behind(verdict=verdict)))[0]


def _review_five(page: Page, site: Site) -> None:
    hands = Hands(page, site, "review")
    hands.ready()
    for _ in range(5):
        image = hands.image
        hands.press(*"a" * len(hands.ask("desk.item.proposals")), "Enter")
        page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.saved()


def _report(page: Page, run: int, folder: Path, read: sheet.RunSheet) -> None:
    """The report says what the rows say, in HTML and on paper."""
    page.goto(
        f"{page.url.split('?')[0]}?project={read.project.id}&tab=review&run={run}&view=boards"
    )
    expect(page.locator(".lp-boards tbody tr")).to_have_count(LOT)
    table = printed.text(page.pdf())
    boards_of = page.locator(".lp-boards tbody tr td:nth-child(2)").all_inner_texts()
    assert [name for name in boards_of if printed.bare(name) not in table] == []
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Report", exact=True).click()
    taken = folder / "report.html"
    downloading.value.save_as(taken)
    opened = page.context.browser.new_page()  # type: ignore[union-attr]
    opened.goto(taken.as_uri())
    expect(opened.locator(".fail b")).to_have_text(str(read.counted.failed))
    expect(opened.locator(".pass b")).to_have_text(str(read.counted.passed))
    expect(opened.get_by_text("Lot lot 7.")).to_be_visible()
    for line in read.classes:
        row = opened.get_by_role("row").filter(has_text=line.name).first
        expect(row).to_contain_text(str(line.defects))
    assert opened.pdf().startswith(b"%PDF")
    opened.close()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="PDF", exact=True).click()
    paper = printed.text(downloading.value.path().read_bytes())
    assert f"{read.counted.failed}failed" in paper
    assert f"{read.counted.passed}passed" in paper
    assert printed.bare(f"yield ({100 * (read.counted.interval or [0])[0]:.1f} %") in paper
    for line in read.classes:
        assert f"{line.name}{line.defects}{line.boards}" in paper
