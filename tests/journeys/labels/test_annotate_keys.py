"""The keyboard alone does everything: draw, choose, name, nudge, copy, decide, finish."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from backend.domain import Origin, State, Task, Verdict
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review.deciding import decisions
from backend.sample.boards import CLASSES
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Desk, Hands, corners, near

RUN = 801


@pytest.fixture(scope="module")
def desk(tab: Page, site: Site) -> Desk:
    put = boards.put(site, "keys", 36)
    boards.detect(site, put, RUN)
    return Desk.at(tab, site, "keys", put.ids[::2])


@pytest.fixture
def hands(desk: Desk) -> Hands:
    return desk.turn()


def draw(hands: Hands, *, right: int = 3, down: int = 2) -> None:
    """A box from the middle of the picture, drawn by keys."""
    hands.press("d", "Shift+ArrowLeft", "Enter", *["Shift+ArrowRight"] * right)
    hands.press(*["Shift+ArrowDown"] * down, "Enter")


def test_a_box_is_drawn_and_nudged_without_a_mouse(hands: Hands) -> None:
    draw(hands)
    (box,) = hands.stored().boxes
    hands.press("ArrowRight", "Shift+ArrowDown", "Alt+ArrowLeft")
    (moved,) = hands.stored().boxes
    assert near(moved, (box.x1 + 1, box.y1 + 10, box.x2, box.y2 + 10))


def test_a_run_of_nudges_is_one_step_to_undo(hands: Hands) -> None:
    draw(hands)
    (box,) = hands.stored().boxes
    hands.press(*["ArrowRight"] * 8)
    assert near(hands.stored().boxes[0], (box.x1 + 8, box.y1, box.x2 + 8, box.y2))
    hands.press("z")
    assert near(hands.stored().boxes[0], corners(box))


def test_boxes_are_chosen_by_tab_and_nobody_is_trapped(hands: Hands) -> None:
    draw(hands)
    hands.press("Control+d", "Escape", "Escape")
    hands.press("Tab")
    first = hands.ask("desk.chosen.length")
    hands.press("Tab", "Delete")
    assert (first, len(hands.stored().boxes)) == (1, 1)
    hands.press("Tab", "Tab")
    assert hands.page.evaluate("document.activeElement.className") != "lp-overlay"
    hands.page.evaluate(f"{hands.js}.stage.above.focus()")


def test_corners_are_typed(hands: Hands) -> None:
    draw(hands)
    hands.press("e")
    for value in ("100.5", "50", "130", "90.25"):
        hands.page.keyboard.type(value)
        hands.press("Tab")
    assert near(hands.stored().boxes[0], (100.5, 50, 130, 90.25), within=0.01)
    hands.page.evaluate(f"{hands.js}.stage.above.focus()")


def test_a_class_is_found_by_its_name(hands: Hands) -> None:
    draw(hands)
    hands.press("/")
    hands.page.keyboard.type(CLASSES[5][:4])
    hands.press("Enter")
    assert hands.stored().boxes[0].label == CLASSES[5]
    hands.press("z")
    assert hands.stored().boxes[0].label != CLASSES[5]


def turned(hands: Hands) -> int:
    """The page is turned by a key; the image that stands there then."""
    image = hands.image
    hands.press("j")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    return hands.image


def test_turning_the_page_drops_what_the_mouse_draws(hands: Hands) -> None:
    first = hands.image
    hands.press("d")
    hands.page.mouse.move(*hands.spot(100, 100))
    hands.page.mouse.down()
    hands.page.mouse.move(*hands.spot(160, 150), steps=4)
    assert hands.ask("pointer.draft.rectangle")
    second = turned(hands)
    hands.page.mouse.move(*hands.spot(200, 200), steps=4)
    hands.page.mouse.up()
    assert [hands.stored(image).boxes for image in (first, second)] == [(), ()]
    hands.drag((300, 300), (360, 350))
    assert near(hands.stored(second).boxes[0], (300, 300, 360, 350))


def test_turning_the_page_drops_the_first_corner(hands: Hands) -> None:
    first = hands.image
    hands.press("d", "Shift+ArrowLeft", "Enter")
    assert hands.ask("anchor")
    second = turned(hands)
    hands.press("Shift+ArrowRight", "Shift+ArrowDown", "Enter")
    assert [hands.stored(image).boxes for image in (first, second)] == [(), ()]
    hands.press("Shift+ArrowRight", "Shift+ArrowDown", "Enter")
    assert len(hands.stored(second).boxes) == 1


def test_boxes_are_copied_into_the_next_image(hands: Hands) -> None:
    draw(hands)
    hands.press("Control+a", "Control+c")
    box = hands.stored().boxes[0]
    image = hands.image
    hands.press("Escape", "Escape", "j", "Control+v")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    (copy,) = hands.stored().boxes
    assert near(copy, corners(box))
    assert copy.id != box.id


def test_all_boxes_of_the_previous_image_never_overwrite_without_asking(hands: Hands) -> None:
    draw(hands)
    image = hands.image
    hands.press("Escape", "Escape", "j")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.press("v")
    assert len(hands.stored().boxes) == 1
    hands.press("v")
    hands.page.locator("dialog.lp-question").wait_for()
    hands.press("Escape")
    assert len(hands.stored().boxes) == 1
    hands.press("v")
    hands.page.locator("[data-choice=add]").click()
    assert len(hands.stored().boxes) == 2
    hands.press("v")
    hands.page.locator("[data-choice=replace]").click()
    assert len(hands.stored().boxes) == 1


def test_done_goes_on_and_skip_asks_why(hands: Hands) -> None:
    first = hands.image
    hands.press("Enter")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {first}")
    second = hands.image
    hands.press("s")
    hands.page.keyboard.type("<b>blurred</b>")
    hands.press("Enter")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {second}")
    assert hands.stored(first).state is State.DONE
    assert hands.stored(second).state is State.SKIPPED
    with hands.site.database.read.begin() as session:
        assert images.get(session, second).comment == "<b>blurred</b>"
    hands.press("k")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id === {second}")
    expect(hands.page.get_by_label("Comment on this image")).to_have_value("<b>blurred</b>")


def test_a_comment_is_written_and_the_next_unlabelled_found(hands: Hands) -> None:
    image = hands.image
    hands.press("c")
    hands.page.keyboard.type("look again")
    hands.press("Enter")
    hands.saved()
    with hands.site.database.read.begin() as session:
        assert images.get(session, image).comment == "look again"
    hands.page.evaluate(f"{hands.js}.stage.above.focus()")
    hands.press("n")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    assert hands.ask("desk.sheet.state") == "new"


def test_proposals_are_accepted_and_rejected_with_their_origin(hands: Hands) -> None:
    hands.page.evaluate(f"{hands.js}.setThreshold(0)")
    image = hands.image
    found = hands.ask("shown")
    best = max(found, key=lambda one: one["score"])
    hands.press("a", "r")
    (box,) = hands.stored().boxes
    assert box.origin is Origin.GOLDEN
    assert box.detection
    assert (box.detection.run, box.detection.idx) == (RUN, best["idx"])
    with hands.site.database.read.begin() as session:
        said = decisions.standing(session, [image], [RUN])[image]
    assert {one.verdict for one in said.values()} == {Verdict.ACCEPT, Verdict.FALSE_CALL}
    assert len(hands.ask("shown")) == len(found) - 2
    hands.press("z", "z")
    assert hands.stored().boxes == ()
    assert len(hands.ask("shown")) == len(found)


def test_all_above_the_slider_are_accepted_at_once(hands: Hands) -> None:
    hands.page.evaluate(f"{hands.js}.setThreshold(0)")
    hands.press(*"]" * 8)
    wanted = [one for one in hands.ask("shown") if one["score"] >= 0.4]
    hands.press("Shift+A")
    assert len(hands.stored().boxes) == len(wanted)
    assert all(box.origin is Origin.GOLDEN for box in hands.stored().boxes)


def test_drawing_beside_the_golden_hits_the_same_place(hands: Hands) -> None:
    hands.press("g", "d")
    hands.drag((200, 200), (260, 250))
    assert near(hands.stored().boxes[0], (200, 200, 260, 250))
    hands.press("Escape", "g", "g", "g")


def test_history_shows_every_revision_and_restores(hands: Hands) -> None:
    draw(hands)
    hands.saved()
    hands.press("Delete")
    hands.saved()
    hands.page.locator("summary", has_text="History").first.click()
    expect(hands.page.locator(".lp-revision")).to_have_count(2)
    who = hands.page.evaluate(f"{hands.js}.me")
    expect(hands.page.locator(".lp-revision").last).to_contain_text(f"draw{who}, just now, 1 box")
    hands.page.get_by_role("button", name="Restore").click()
    hands.page.wait_for_function(f"{hands.js}.desk.sheet.boxes.length === 1")
    assert hands.stored().action == "restore v1"
    hands.page.locator("summary", has_text="History").first.click()


def test_every_key_is_shown(hands: Hands) -> None:
    hands.press("?")
    dialog = hands.page.locator("dialog.lp-keys")
    for words in ("Next image", "Accept", "Undo", "Golden", "Delete", "Draw"):
        expect(dialog).to_contain_text(words)
    hands.press("j", "Escape")
    dialog.wait_for(state="detached")


def test_an_image_of_a_classification_project_is_named_by_a_digit(page: Page, site: Site) -> None:
    with site.database.write.begin() as session:
        project = catalogue.create(session, "sorting", Task.CLASSIFY)
        names = [classes.ensure(session, project.id, name).name for name in ("good", "bad")]
        new = NewImage("a", site.files.put(boards.png(np.zeros((64, 64), np.uint8))), 64, 64)
        images.add(session, project.id, [new], "")
    hands = Hands(page, site)
    hands.open("sorting")
    hands.press("d")
    hands.drag((5, 5), (40, 40))
    hands.press("2")
    assert hands.stored().label == names[1]
    assert hands.stored().boxes == ()
