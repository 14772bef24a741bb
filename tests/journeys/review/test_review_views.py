"""What surrounds a decision: the rule, lots, the golden close up, why, repeats, the runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy.orm import Session

from backend.domain import Box, Run, RunImage, State, Verdict
from backend.labels import labelling
from backend.models import snapshots, trainings
from backend.projects import classes
from backend.review import blind_repeats, judgements, reports, views
from backend.review.deciding import decisions
from backend.review.judgements import Judgement
from backend.sample.boards import CLASSES
from backend.storage import findings
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands


@pytest.fixture
def hands(page: Page, site: Site) -> Hands:
    return Hands(page, site, "review")


def put(site: Site, run: int, count: int) -> boards.Boards:
    made = boards.put(site, f"review views {run}", count)
    boards.detect(site, made, run)
    return made


def test_the_rule_says_pass_or_fail_beside_the_inspector(hands: Hands, site: Site) -> None:
    made = put(site, 921, 3)
    hands.open(made.project.name, run="921")
    rule = hands.page.locator(".lp-rule:visible").first
    expect(rule).to_contain_text("Rule: fail")
    hands.page.get_by_text("Rule and thresholds").click()
    with hands.page.expect_response("**/review-rule"):
        hands.page.get_by_label("A board fails from").select_option("3")
    expect(rule).to_contain_text("Rule: pass")
    with site.database.write.begin() as session:
        worst = classes.find(session, made.project.id, hands.ask("desk.item.proposals")[0]["label"])
        assert worst
        classes.edit(session, worst.id, severity=3)
    hands.page.reload()
    hands.ready()
    expect(rule).to_contain_text("Rule: fail, for 1 defect of severity 3 or more")
    image = hands.image
    hands.press("p")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.page.keyboard.press("k")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id === {image}")
    expect(rule).to_contain_text("Yours: pass")
    hands.saved()
    with site.database.read.begin() as session:
        rows = [row for row in reports.rows(session, 921) if row["image"] == image]
    assert {(row["rule"], row["board"]) for row in rows} == {("fail", "pass")}


def test_a_class_has_a_threshold_of_its_own_for_everybody(hands: Hands, site: Site) -> None:
    made = put(site, 922, 2)
    hands.open(made.project.name, run="922")
    first = hands.ask("desk.item.proposals")[0]
    before = len(hands.ask("stands"))
    hands.page.get_by_text("Rule and thresholds").click()
    with hands.page.expect_response("**/review-rule"):
        hands.page.get_by_role("slider", name=first["label"]).fill("0.99")
    hands.page.wait_for_function(f"{hands.js}.stands.length < {before}")
    with site.database.read.begin() as session:
        assert views.rule(session, made.project.id)["thresholds"] == {first["label"]: 0.99}


def test_lot_class_score_and_order_are_combined_in_the_address(hands: Hands, site: Site) -> None:
    made = put(site, 923, 14)
    hands.open(made.project.name, run="923")
    with site.database.read.begin() as session:
        lots = views.groups(session, 923)
        of_image = {
            one.item.image.id: (
                one.item.image.group,
                {d.label for d in one.detections if d.score >= 0.75},
            )
            for one in views.items(session, 923, made.ids)
        }
    lot, wanted = lots[-1], CLASSES[1]
    page = hands.page
    page.get_by_label("Lot").select_option(lot)
    page.wait_for_url(f"**group={lot}**")
    page.get_by_label("Class").first.select_option(wanted)
    page.get_by_label("Score", exact=True).select_option("0.75")
    page.get_by_label("Order").select_option("name")
    page.wait_for_url("**sort=name**")
    expected = [id_ for id_ in made.ids if of_image[id_][0] == lot and wanted in of_image[id_][1]]
    page.wait_for_function(f"{hands.js}.total === {len(expected)}")
    page.wait_for_url(f"**image={expected[0]}**")
    page.reload()
    hands.ready()
    assert [page.get_by_label(name).first.input_value() for name in ("Lot", "Order")] == [
        lot,
        "name",
    ]
    assert hands.ask("list.map(i => i.id)") == expected[:6]


def test_board_and_golden_are_zoomed_in_step(hands: Hands, site: Site) -> None:
    made = put(site, 924, 1)
    hands.open(made.project.name, run="924")
    crops = hands.page.locator(".lp-closeup canvas")
    expect(crops).to_have_count(2)
    found = "[...document.querySelectorAll('#shell-review .lp-closeup canvas')]"
    look = f"{found}.map(c => c.toDataURL().length)"
    hands.page.wait_for_function(f"({look}).every(n => n > 2000)")
    before = hands.page.evaluate(look)
    box = crops.first.bounding_box()
    assert box
    hands.page.mouse.move(box["x"] + 20, box["y"] + 20)
    hands.page.mouse.wheel(0, 300)
    changed = f"({look}).every((n, at) => n !== {before}[at])"
    hands.page.wait_for_function(changed)
    assert hands.stored().version == 0


def test_right_false_and_missed_are_told_by_line_and_word(hands: Hands, site: Site) -> None:
    made = put(site, 930, 1)
    (image,) = made.ids
    lone = Box(560.0, 600.0, 600.0, 630.0, CLASSES[2], id="lone")
    with site.database.write.begin() as session:
        labels = [*made.defects[image][:1], lone]
        labelling.save(session, image, 0, labels, "ana", state=State.DONE)
    hands.open(made.project.name, run="930")
    marks = hands.ask("marks().map(m => [m.kind, m.text])")
    words = ("not labelled", "missed", "")
    told = {(kind, next(one for one in words if one in text)) for kind, text in marks}
    assert told == {("dashed", ""), ("crossed", words[0]), ("dotted", words[1]), ("solid", "")}
    assert hands.page.get_by_text("missed", exact=True).count() == 1
    hands.page.get_by_role("checkbox", name="Labels").uncheck()
    assert {kind for kind, _ in hands.ask("marks().map(m => [m.kind, m.text])")} == {
        "solid",
        "crossed",
    }
    hands.page.get_by_role("checkbox", name="Detections").uncheck()
    assert hands.ask("marks()") == []


def test_a_label_tells_in_annotate_where_it_comes_from(page: Page, site: Site) -> None:
    made = put(site, 931, 1)
    (image,) = made.ids
    with site.database.write.begin() as session:
        labelling.save(session, image, 0, made.defects[image][:1], "ana", state=State.DONE)
    annotating = Hands(page, site)
    annotating.open(made.project.name)
    annotating.page.evaluate(
        f"{annotating.js}.desk.select([{annotating.js}.desk.sheet.boxes[0].id])"
    )
    page.get_by_text("Why", exact=True).click()
    expect(page.locator(".lp-chain li").filter(has_text="edit by ana")).to_be_visible()


def test_one_click_shows_where_a_correction_came_from_and_went(hands: Hands, site: Site) -> None:
    made = put(site, 925, 4)
    hands.open(made.project.name, run="925")
    image, first = hands.image, hands.ask("desk.item.proposals")[0]
    other = next(label for label in CLASSES if label != first["label"])
    hands.press(str(1 + CLASSES.index(other)), "Enter")
    hands.saved()
    with site.database.write.begin() as session:
        (box,) = labelling.boxes_of(session, [image])[image]
        for other_id in set(made.ids) - {image}:
            labelling.save(session, other_id, 0, made.defects[other_id], "ana", state=State.DONE)
        started = trainings.retrain(session, made.project.id, "golden", author="ana")
        frozen = started.model.snapshot_id
        assert frozen
        assert box in next(
            one.boxes for one in snapshots.images(session, frozen) if one.id == image
        )
    page = hands.page
    page.goto(f"{site.url}/?project={made.project.id}&tab=review&run=925&stands=&image={image}")
    hands.ready()
    page.wait_for_function(f"{hands.js}.desk.item.id === {image}")
    page.get_by_role("button", name="corrected").click()
    page.get_by_text("Why", exact=True).click()
    chain = page.locator(".lp-chain li")
    for words in (
        f"Detection {first['label']}",
        "Run run 925 by golden",
        "Model rules over the golden",
        "Image ",
        "Golden ",
        "Decision correct by",
        f"Label {other}",
        f"Went into snapshot {frozen}",
        f"Taught {started.model.name}",
    ):
        expect(chain.filter(has_text=words).first).to_be_visible()


def test_a_blind_repeat_comes_back_unmarked_and_is_compared(hands: Hands, site: Site) -> None:
    made = put(site, 926, 9)
    with site.database.write.begin() as session:
        views.set_rule(session, made.project.id, {"repeats": 0.5}, 0, "ana")
        first = made.ids[0]
        _judge(session, 926, first)
    hands.open(made.project.name, run="926")
    while hands.image > 0:
        image = hands.image
        hands.press("Enter")
        hands.saved()
        hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    assert hands.image == -first
    assert hands.ask("desk.sheet.boxes") == []
    assert hands.ask("stands.every(s => s.open)")
    number = len(hands.ask("desk.item.proposals"))
    hands.press(*"a" * (number - 1), "r", "b")
    hands.saved()
    with site.database.read.begin() as session:
        found = blind_repeats.agreement(session, 926)
        assert labelling.history(session, first)[0].author == "ana"
    pairs = (found.between_boards, found.between_detections)
    assert [(one.pairs, one.agreed) for one in pairs] == [(1, 1), (number, number)]
    hands.page.get_by_role("link", name="Runs", exact=True).click()
    expect(hands.page.get_by_text("Between κ 1.0")).to_be_visible()


def _judge(session: Session, run: int, image: int) -> None:
    """Ana accepts every defect, refuses the false call, fails the board."""
    (seen,) = views.items(session, run, [image])
    last = len(seen.detections) - 1
    said = {one.idx: Verdict.ACCEPT for one in seen.detections} | {last: Verdict.FALSE_CALL}
    judgements.judge(session, run, image, Judgement(said), "ana")
    boxes = labelling.boxes_of(session, [image])[image]
    version = labelling.version_of(session, image)
    sheet = decisions.Sheet(
        version, boxes, State.DONE, run_id=run, review=True, verdict=Verdict.FAIL
    )
    decisions.save(session, image, sheet, "ana")


def test_the_wall_is_swept_without_a_connection(
    hands: Hands, site: Site, complaints: list[str]
) -> None:
    made = put(site, 927, 4)
    page = hands.page
    page.goto(
        f"{site.url}/?project={made.project.id}&tab=review&run=927&view=wall&class={CLASSES[0]}"
    )
    page.locator(".lp-tile.current").wait_for()
    with site.database.read.begin() as session:
        _, tiles = views.wall(session, 927, CLASSES[0])
    page.route("**/decide", lambda route: route.abort())
    hands.press("r", "r", "a")
    expect(page.locator(".lp-wall-status")).to_contain_text("No connection: 3 sweeps kept here")
    page.unroute("**/decide")
    expect(page.locator(".lp-wall-status")).to_have_text("Saved")
    with site.database.read.begin() as session:
        standing = decisions.standing(session, made.ids, [927])
    said = [
        standing[t.image_id][decisions.Subject(927, t.detection.idx)].verdict for t in tiles[:3]
    ]
    assert said == [Verdict.FALSE_CALL, Verdict.FALSE_CALL, Verdict.ACCEPT]
    assert all("/decide" in one for one in complaints)
    complaints.clear()


def test_the_list_of_runs_counts_and_follows_a_run_at_work(page: Page, site: Site) -> None:
    made = put(site, 928, 4)
    image = made.ids[0]
    with site.database.write.begin() as session:
        labelling.save(session, image, 0, made.defects[image], "ana", state=State.DONE)
        findings.start(session, Run(929, "v1", "yolo", datetime.now(UTC), made.project.id))
        findings.record(session, 929, [RunImage(image, str(image))])
    page.goto(f"/?project={made.project.id}&tab=review")
    old, new = (page.get_by_role("row").filter(has_text=f"Run {run}") for run in (928, 929))
    cells = old.get_by_role("cell")
    expect(cells.nth(5)).to_have_text("0")
    expect(cells.nth(6)).to_have_text("0")
    expect(new.get_by_role("cell").nth(5)).to_have_text(str(len(made.defects[image])))
    expect(old).to_contain_text("rule: 0 pass · 4 fail")
    failed = old.get_by_role("link", name="4 fail")
    expect(failed).to_have_attribute("href", re.compile("stands=rule-fail"))
    expect(new).to_contain_text("running")
    with site.database.write.begin() as session:
        findings.record(session, 929, [RunImage(one, str(one)) for one in made.ids[1:3]])
    expect(new.get_by_role("cell").nth(2)).to_have_text("3")
    new.get_by_role("button", name="Review").click()
    hands = Hands(page, site, "review")
    hands.ready()
    for _ in range(3):
        hands.press("Enter")
        hands.saved()
    expect(page.get_by_role("heading", name="The run is still at work")).to_be_visible()
    with site.database.write.begin() as session:
        findings.record(session, 929, [RunImage(made.ids[3], str(made.ids[3]))])
    page.get_by_role("button", name="Look for more").click()
    page.wait_for_function(f"{hands.js}.desk.item.id === {made.ids[3]}")
