"""A person draws, moves, resizes, names and deletes boxes with the mouse; the server has each."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from backend.domain import Box, State
from backend.labels import labelling
from backend.sample.boards import CLASSES
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Desk, Hands, near


@pytest.fixture(scope="module")
def desk(tab: Page, site: Site) -> Desk:
    return Desk.at(tab, site, "boxes", boards.put(site, "boxes", 24).ids)


@pytest.fixture
def hands(desk: Desk) -> Hands:
    return desk.turn()


def only(hands: Hands) -> Box:
    (box,) = hands.stored().boxes
    return box


def test_a_box_is_drawn_where_the_mouse_went(hands: Hands) -> None:
    hands.press("d")
    hands.drag((50.5, 60.25), (150.5, 140.75))
    assert near(only(hands), (50.5, 60.25, 150.5, 140.75))
    assert hands.stored().state is State.STARTED
    assert hands.stored().action == "draw"


def test_a_drawn_box_ends_at_the_edge_of_the_picture(hands: Hands) -> None:
    hands.press("d")
    hands.drag((600, 600), (700, 655))
    assert near(only(hands), (600, 600, 640, 640))


def test_a_box_is_moved_and_stays_inside(hands: Hands) -> None:
    hands.press("d")
    hands.drag((100, 100), (160, 150))
    hands.press("Escape")
    hands.drag((130, 125), (230, 165))
    assert near(only(hands), (200, 140, 260, 190))
    hands.drag((230, 165), (-100, 165))
    assert near(only(hands), (0, 140, 60, 190))


def beside(hands: Hands) -> float:
    """How far right a point of the image lies that stands over the panel."""
    wide = hands.ask("stage.view.width")
    return float(hands.ask(f"stage.view.toImage({wide + 60}, 0).x"))


def test_a_drag_that_leaves_the_canvas_ends_at_the_edge_of_the_picture(hands: Hands) -> None:
    hands.press("d")
    hands.drag((500, 300), (beside(hands), 350))
    assert near(only(hands), (500, 300, 640, 350))
    hands.press("Escape", "Control+a", "Delete", "d")
    hands.drag((300, 300), (360, 350))
    hands.drag((360, 325), (beside(hands), 325))
    assert near(only(hands), (300, 300, 640, 350))
    hands.press("z", "Escape")
    hands.drag((330, 325), (beside(hands), 325))
    assert near(only(hands), (580, 300, 640, 350))


@pytest.mark.parametrize("handle", ["nw", "n", "ne", "e", "se", "s", "sw", "w"])
def test_every_handle_resizes(hands: Hands, handle: str) -> None:
    hands.press("d")
    hands.drag((200, 200), (300, 280))
    x = 200 if "w" in handle else 300 if "e" in handle else 250
    y = 200 if "n" in handle else 280 if "s" in handle else 240
    hands.drag((x, y), (x + 20, y + 10))
    west, east = 20 * ("w" in handle), 20 * ("e" in handle)
    north, south = 10 * ("n" in handle), 10 * ("s" in handle)
    box = hands.stored().boxes[-1]
    assert near(box, (200 + west, 200 + north, 300 + east, 280 + south))
    hands.press("Control+a", "Delete")
    assert hands.stored().boxes == ()


def test_a_digit_names_the_chosen_box_and_the_next(hands: Hands) -> None:
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.press("4")
    hands.drag((150, 50), (190, 90))
    assert [box.label for box in hands.stored().boxes] == [CLASSES[3]] * 2


def test_many_boxes_are_chosen_by_a_band_and_moved_together(hands: Hands) -> None:
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.drag((150, 50), (190, 90))
    hands.press("Escape", "Escape")
    hands.page.keyboard.down("Shift")
    hands.drag((30, 30), (210, 110))
    hands.page.keyboard.up("Shift")
    hands.drag((70, 70), (80, 100))
    first, second = sorted(hands.stored().boxes, key=lambda box: box.x1)
    assert near(first, (60, 80, 100, 120))
    assert near(second, (160, 80, 200, 120))


def test_the_wheel_zooms_at_the_cursor_and_boxes_stay_exact(hands: Hands) -> None:
    x, y = (float(round(at)) for at in hands.spot(400, 300))
    before = hands.point(x, y)
    hands.page.mouse.move(x, y)
    for _ in range(6):
        closer = 1.2 * hands.ask("stage.view.scale")
        hands.page.mouse.wheel(0, -120)
        hands.page.wait_for_function(f"{hands.js}.stage.view.scale > {closer}")
    assert hands.point(x, y) == pytest.approx(before, abs=0.01)
    hands.press("d")
    hands.drag((390.5, 290.25), (420.75, 310.5))
    assert near(only(hands), (390.5, 290.25, 420.75, 310.5), within=0.3)


def test_undo_and_redo_survive_leaving_the_image(hands: Hands) -> None:
    image = hands.image
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.drag((150, 50), (190, 90))
    hands.press("Escape", "Escape", "j")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.press("k")
    hands.page.wait_for_function(f"{hands.js}.desk.item.id === {image}")
    hands.press("z")
    assert len(hands.stored(image).boxes) == 1
    hands.press("Shift+Z")
    assert len(hands.stored(image).boxes) == 2
    hands.press("z", "z")
    assert hands.stored(image).boxes == ()


def three(hands: Hands) -> int:
    """Three boxes are drawn, the last one is taken back; the image."""
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.drag((150, 50), (190, 90))
    hands.drag((250, 50), (290, 90))
    hands.press("Escape", "Escape", "z")
    assert len(hands.stored().boxes) == 2
    return hands.image


def test_undo_and_redo_go_on_after_a_reload(hands: Hands) -> None:
    image = three(hands)
    hands.page.reload()
    hands.ready()
    hands.press("Shift+Z")
    assert near(hands.stored(image).boxes[-1], (250, 50, 290, 90))
    hands.press("z", "z", "z", "z")
    assert hands.stored(image).boxes == ()
    # Another load, and an image that was not come back to after the first.
    hands.page.goto(f"{hands.site.url}/?project=boxes&tab=projects")
    hands.page.locator(".project").first.wait_for()
    hands.open("boxes", image)
    hands.press("Shift+Z")
    assert near(only(hands), (50, 50, 90, 90))


def test_undo_goes_on_in_a_tab_that_has_not_seen_the_edits(hands: Hands) -> None:
    image = three(hands)
    other = Hands(hands.page.context.new_page(), hands.site)
    other.open("boxes", image)
    for left in (1, 0):
        other.press("z")
        other.page.wait_for_function(f"{other.js}.desk.sheet.boxes.length === {left}")
        assert len(other.stored(image).boxes) == left
    other.press("z", "Shift+Z")
    assert near(only(other), (50, 50, 90, 90))
    other.page.close()


def test_what_another_person_changed_meanwhile_is_not_undone_into(hands: Hands) -> None:
    image = three(hands)
    with hands.site.database.write.begin() as session:
        version = labelling.version_of(session, image)
        labelling.save(session, image, version, (Box(9, 9, 30, 30, CLASSES[0]),), "ana")
    hands.page.reload()
    hands.ready()
    hands.press("z")
    hands.page.wait_for_function(f"{hands.js}.recalled.size === 1")
    hands.page.wait_for_function("document.querySelector('#shell-annotate .lp-hush.on')")
    assert near(only(hands), (9, 9, 30, 30))
