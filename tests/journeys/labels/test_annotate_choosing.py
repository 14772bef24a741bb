"""A person chooses boxes, proposals and classes, by hand and by keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from backend.domain import Box, Origin
from backend.labels import labelling
from backend.projects import classes
from backend.review.deciding import decisions
from backend.sample.boards import CLASSES
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Desk, Hands, corners, near

RUN = 802
THREE = ((50, 50, 90, 90), (150, 50, 190, 90), (250, 50, 290, 90))
MANY = [*CLASSES, *(f"extra {number}" for number in range(6, 14))]


@pytest.fixture(scope="module")
def put(site: Site) -> boards.Boards:
    made = boards.put(site, "choosing", 40)
    boards.detect(site, made, RUN)
    with site.database.write.begin() as session:
        for name in MANY[len(CLASSES) :]:
            classes.ensure(session, made.project.id, name)
        last = classes.of(session, made.project.id)[-1]
        classes.edit(session, last.id, hotkey="q")
    return made


@pytest.fixture(scope="module")
def desk(tab: Page, site: Site, put: boards.Boards) -> Desk:
    return Desk.at(tab, site, "choosing", put.ids[::2])


@pytest.fixture
def hands(desk: Desk) -> Hands:
    return desk.turn()


@pytest.fixture
def three(hands: Hands) -> Hands:
    """Three boxes stand, the last drawn is chosen no more."""
    hands.press("d")
    for x1, y1, x2, y2 in THREE:
        hands.drag((x1, y1), (x2, y2))
    hands.press("Escape", "Escape")
    return hands


@pytest.fixture
def proposed(hands: Hands) -> Hands:
    """All proposals are in sight."""
    hands.page.evaluate(f"{hands.js}.setThreshold(0)")
    return hands


def stored(hands: Hands) -> list[Box]:
    return sorted(hands.stored().boxes, key=lambda box: (box.x1, box.y1))


def panel(hands: Hands, title: str) -> Page:
    """A section of the panel beside the picture."""
    found = hands.page.locator("#shell-annotate section.lp-section")
    return found.filter(has=hands.page.get_by_role("heading", name=title))  # type: ignore[return-value]


@pytest.mark.parametrize("key", ["Shift", "Control"])
def test_boxes_are_chosen_one_by_one_and_the_others_stay(three: Hands, key: str) -> None:
    three.click(70, 70)
    three.page.keyboard.down(key)
    three.click(270, 70)
    three.page.keyboard.up(key)
    three.press("Delete")
    (left,) = stored(three)
    assert near(left, THREE[1])


def test_some_of_many_are_chosen_by_keys_alone(three: Hands) -> None:
    three.press("Tab", "x", "Tab", "Tab", "ArrowDown", "ArrowDown")
    first, second, third = stored(three)
    assert near(second, THREE[1])
    assert near(first, (50, 52, 90, 92))
    assert near(third, (250, 52, 290, 92))
    # What is no longer chosen is no longer kept: Tab chooses the topmost alone.
    three.press("Escape", "Tab", "Delete")
    assert [corners(box) for box in stored(three)] == [corners(first), corners(third)]


def test_a_box_is_duplicated_beside_itself_with_its_class(three: Hands) -> None:
    three.click(70, 70)
    three.press("3", "Control+d")
    first, copy, *_ = stored(three)
    assert near(copy, [at + 12 for at in THREE[0]])
    assert (first.label, copy.label) == (CLASSES[2], CLASSES[2])
    assert first.id != copy.id


def test_boxes_are_cut_and_pasted_where_they_stood_in_another_image(three: Hands) -> None:
    before, image = stored(three), three.image
    three.press("Control+a", "Control+x")
    assert stored(three) == []
    three.press("j")
    three.page.wait_for_function(f"{three.js}.desk.item.id !== {image}")
    three.press("Control+v")
    assert [near(a, corners(b)) for a, b in zip(stored(three), before, strict=True)] == [True] * 3
    assert {box.id for box in before}.isdisjoint(box.id for box in stored(three))


def test_boxes_are_chosen_and_deleted_in_the_list(three: Hands) -> None:
    rows = panel(three, "Boxes").locator(".lp-row")
    rows.nth(1).locator(".lp-box").click()
    three.press("ArrowRight")
    assert near(stored(three)[1], (151, 50, 191, 90))
    rows.nth(0).get_by_role("button", name="Delete").click()
    assert len(stored(three)) == 2
    three.press("z")
    assert near(stored(three)[0], THREE[0])


def test_typed_corners_stay_inside_the_picture(three: Hands) -> None:
    three.click(70, 70)
    for name, value in (("x1", "600.5"), ("x2", "9999"), ("y2", "75.25")):
        field = three.page.get_by_label(f"{name} of the chosen box")
        field.fill(value)
        field.press("Tab")
    box = next(box for box in stored(three) if box.y2 < 80)
    assert near(box, (600.5, 50, 640, 75.25), within=0.01)
    three.page.evaluate(f"{three.js}.stage.above.focus()")


def test_a_class_beyond_nine_is_searched_by_keys(three: Hands) -> None:
    three.click(70, 70)
    three.press("/")
    three.page.keyboard.type("extra 11")
    three.press("Enter")
    assert stored(three)[0].label == "extra 11"
    # The next box has it too, and the keys are the canvas's again.
    three.press("Escape", "d")
    three.drag((350, 50), (390, 90))
    assert stored(three)[-1].label == "extra 11"


def test_a_class_is_clicked_and_one_has_a_letter(three: Hands) -> None:
    three.click(70, 70)
    three.page.locator(".lp-class", has_text="extra 9").click()
    three.page.locator("#shell-annotate .lp-box").nth(1).click()
    three.press("q")
    assert [box.label for box in stored(three)][:2] == ["extra 9", MANY[-1]]


def test_a_proposal_is_dashed_with_its_score(proposed: Hands) -> None:
    marks = proposed.ask("marks().map(m => [m.kind, m.text])")
    scores = sorted((one["score"] for one in proposed.ask("shown")), reverse=True)
    assert {kind for kind, _ in marks} == {"dashed"}
    assert sorted((text.split()[-1] for _, text in marks), reverse=True) == [
        f"{score:.2f}".lstrip("0") for score in scores
    ]


def test_proposals_are_answered_in_the_list(proposed: Hands) -> None:
    rows = panel(proposed, "Proposals").locator(".lp-row")
    image = proposed.image
    first, second, *others = (one["idx"] for one in proposed.ask("shown"))
    expect(rows).to_have_count(2 + len(others))
    rows.nth(0).get_by_role("button", name="Accept").click()
    expect(rows).to_have_count(1 + len(others))
    rows.nth(0).get_by_role("button", name="Reject").click()
    expect(rows).to_have_count(len(others))
    (box,) = stored(proposed)
    assert box.detection
    assert (box.detection.run, box.detection.idx) == (RUN, first)
    with proposed.site.database.read.begin() as session:
        said = decisions.standing(session, [image], [RUN])[image]
    assert {one.idx: verdict.verdict.value for one, verdict in said.items()} == {
        first: "accept",
        second: "false_call",
    }


def test_a_proposal_is_corrected_by_dragging_and_keeps_its_detection(proposed: Hands) -> None:
    best = proposed.ask("shown[0]")
    x, y = (best["x1"] + best["x2"]) / 2, (best["y1"] + best["y2"]) / 2
    proposed.drag((x, y), (x + 9, y + 5))
    (box,) = stored(proposed)
    assert near(box, (best["x1"] + 9, best["y1"] + 5, best["x2"] + 9, best["y2"] + 5))
    assert box.origin is Origin.GOLDEN
    assert box.detection
    assert box.detection.idx == best["idx"]


def test_the_slider_says_how_many_are_accepted_at_once(proposed: Hands) -> None:
    slider = proposed.page.get_by_label("Least score of the proposals shown").first
    slider.fill("0.6")
    wanted = {one["idx"] for one in proposed.ask("desk.proposals") if one["score"] >= 0.6}
    assert {one["idx"] for one in proposed.ask("shown")} == wanted
    slider.press("ArrowRight")
    assert proposed.ask("threshold") == pytest.approx(0.61)
    proposed.page.get_by_role("button", name="Accept all ≥ .61").click()
    taken = {box.detection.idx for box in stored(proposed) if box.detection}
    assert taken == {idx for idx in wanted if idx in taken}
    assert taken


def test_an_earlier_revision_comes_back_by_keys_alone(three: Hands) -> None:
    three.press("Control+a", "Delete")
    assert stored(three) == []
    three.reach("summary", "History")
    three.press("Enter")
    three.page.locator(".lp-revision").nth(1).wait_for()
    three.reach("button", "Restore")
    three.press("Enter")
    three.page.wait_for_function(f"{three.js}.desk.sheet.boxes.length === 3")
    assert [near(box, wanted) for box, wanted in zip(stored(three), THREE, strict=True)] == [
        True
    ] * 3
    with three.site.database.read.begin() as session:
        assert labelling.history(session, three.image)[0].action.startswith("restore v")
    three.press("Shift+Tab")
    three.page.evaluate(f"{three.js}.stage.above.focus()")


def test_a_revision_of_long_ago_is_found_and_restored_by_keys(three: Hands) -> None:
    image, version = three.image, three.stored().version
    with three.site.database.write.begin() as session:
        for number in range(version, version + 105):
            labelling.save(session, image, number, (), "ana")
    three.open("choosing", image)
    three.reach("summary", "History")
    if not three.page.evaluate("document.activeElement.parentElement.open"):
        three.press("Enter")
    three.page.get_by_role("button", name="Show those before v").press("Enter")
    expect(three.page.locator(".lp-revision")).to_have_count(version + 105)
    # The focus stands on the first of those that came, and goes on from there.
    three.press(*["Tab"] * 5)
    expect(three.page.locator(".lp-revision :focus")).to_be_visible()
    three.page.locator(".lp-revision").nth(105).get_by_role("button").press("Enter")
    three.page.wait_for_function(f"{three.js}.desk.sheet.boxes.length === 3")
    assert three.stored().action == f"restore v{version}"


def test_the_place_in_a_filtered_view_is_counted(three: Hands, put: boards.Boards) -> None:
    with three.site.database.read.begin() as session:
        new = [one for one in put.ids if not labelling.version_of(session, one)]
    three.page.goto(f"{three.site.url}/?project=choosing&tab=annotate&state=new")
    three.ready()
    expect(three.page.locator("#shell-annotate .lp-place")).to_have_text(f"1 / {len(new)}")
    three.press("j")
    expect(three.page.locator("#shell-annotate .lp-place")).to_have_text(f"2 / {len(new)}")
    assert three.image == new[1]
