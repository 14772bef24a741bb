"""A person looks closely: pan, zoom, light, the golden beside; what is drawn then is exact."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from backend.domain import Task
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Desk, Hands, Point, near

# The pixels of a part of the image as they stand on the screen, in a pane; golden boards have two.
PART = """([x1, y1, x2, y2, pane]) => {
  const { stage } = PAGE;
  stage.drawNow();
  const [a, b] = [stage.view.toScreen(x1, y1), stage.view.toScreen(x2, y2)];
  const left = Math.round(a.x + pane * stage.view.width);
  const across = Math.round(b.x - a.x), down = Math.round(b.y - a.y);
  const context = stage.below.getContext("2d");
  return [...context.getImageData(left, Math.round(a.y), across, down).data];
}"""
LIT = """() => {
  const canvas = PAGE.stage.above;
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return data.reduce((sum, value) => sum + (value > 0), 0);
}"""


@pytest.fixture(scope="module")
def put(site: Site) -> boards.Boards:
    return boards.put(site, "looking", 20)


@pytest.fixture(scope="module")
def desk(tab: Page, site: Site, put: boards.Boards) -> Desk:
    return Desk.at(tab, site, "looking", put.ids)


@pytest.fixture
def hands(desk: Desk) -> Hands:
    return desk.turn()


@pytest.fixture
def golden(hands: Hands, put: boards.Boards) -> Iterator[Point]:
    """The middle of a defect, with the golden at hand."""
    hands.page.wait_for_function(f"!{hands.js}.pictures.coming.size")
    hands.press("g")
    loaded = f"{hands.js}.pictures.peek(`/files/${{{hands.js}.desk.item.golden.sha256}}/preview`)"
    hands.page.wait_for_function(loaded)
    defect = put.defects[hands.image][0]
    yield (defect.x1 + defect.x2) / 2, (defect.y1 + defect.y2) / 2
    mode(hands, "off")


def mode(hands: Hands, wanted: str) -> None:
    while hands.ask("stage.mode") != wanted:
        hands.press("g")


def part(hands: Hands, corners: tuple[float, float, float, float], pane: int = 0) -> np.ndarray:
    """What stands on the screen there."""
    seen = hands.page.evaluate(PART.replace("PAGE", hands.js), [*corners, pane])
    return np.array(seen, dtype=float)


def around(at: Point, room: float = 12) -> tuple[float, float, float, float]:
    return at[0] - room, at[1] - room, at[0] + room, at[1] + room


def draws_exactly(hands: Hands) -> None:
    """A box drawn now is stored where it was drawn, to less than a pixel."""
    mode_before = hands.ask("drawing")
    if not mode_before:
        hands.press("d")
    hands.drag((300.5, 310.25), (330.25, 335.5))
    assert near(hands.stored().boxes[-1], (300.5, 310.25, 330.25, 335.5))
    hands.press("Escape", "Escape")


def lit(hands: Hands) -> int:
    """How many values of the overlay are not nothing, after the next frame."""
    hands.page.evaluate(f"{hands.js}.stage.drawNow()")
    return int(hands.page.evaluate(LIT.replace("PAGE", hands.js)))


def view(hands: Hands) -> np.ndarray:
    """The picture as the eye gets it."""
    hands.page.evaluate(f"{hands.js}.stage.drawNow()")
    shot = hands.page.locator("#shell-annotate .lp-picture").screenshot()
    grey = cv2.imdecode(np.frombuffer(shot, np.uint8), cv2.IMREAD_GRAYSCALE)
    return np.asarray(grey, dtype=float)


@pytest.mark.parametrize("how", ["left", "right", "middle", "space"])
def test_the_picture_is_dragged_and_boxes_stay_exact(hands: Hands, how: str) -> None:
    before = hands.spot(300, 300)
    if how == "space":
        hands.page.keyboard.down("Space")
    hands.drag((320, 320), (360, 300), "left" if how == "space" else how)
    if how == "space":
        hands.page.keyboard.up("Space")
    scale = hands.ask("stage.view.scale")
    after = hands.spot(300, 300)
    assert after == pytest.approx((before[0] + 40 * scale, before[1] - 20 * scale), abs=1.5)
    assert hands.stored().boxes == ()
    draws_exactly(hands)


def test_keys_alone_pan_zoom_fit_and_show_pixels(hands: Hands) -> None:
    fitted = hands.ask("stage.view.scale")
    hands.press("o")
    assert hands.ask("stage.view.scale") == pytest.approx(1)
    hands.press("+", "+", "Shift+ArrowRight", "Shift+ArrowDown")
    assert hands.ask("stage.view.scale") == pytest.approx(1.25**2)
    draws_exactly(hands)
    hands.press("-", "f")
    assert hands.ask("stage.view.scale") == pytest.approx(fitted)
    draws_exactly(hands)
    assert len(hands.stored().boxes) == 2


def test_tools_are_pressed_instead_of_keys(hands: Hands) -> None:
    tools = hands.page.get_by_role("toolbar", name="Tools")
    tools.get_by_role("button", name="Draw").click()
    draws_exactly(hands)
    tools.get_by_role("button", name="Undo").click()
    assert hands.stored().boxes == ()
    tools.get_by_role("button", name="Redo").click()
    assert len(hands.stored().boxes) == 1


def use(hands: Hands, tool: str, key: str = "Tab") -> None:
    """Go to a tool by Tab alone and press it."""
    hands.reach("button.lp-tool", tool, key)
    hands.press("Enter")


def test_tools_are_reached_by_tab_and_pressed_by_enter(hands: Hands) -> None:
    use(hands, "Draw", "Shift+Tab")
    hands.press("Shift+ArrowLeft", "Enter", *["Shift+ArrowRight"] * 3, "Shift+ArrowDown", "Enter")
    assert len(hands.stored().boxes) == 1
    hands.press("Escape", "Escape")
    use(hands, "One image pixel", "Shift+Tab")
    assert hands.ask("stage.view.scale") == pytest.approx(1)
    use(hands, "Fit the picture", "Shift+Tab")
    assert hands.ask("stage.view.fitted")
    hands.reach("button.lp-tool", "Golden")
    for shown in ("side", "blink", "difference", "off"):
        hands.press("Enter")
        assert hands.ask("stage.mode") == shown
    use(hands, "Hide the boxes")
    pressed = hands.page.get_by_role("button", name="Hide the boxes", pressed=True)
    expect(pressed).to_be_focused()
    hands.press("Enter")
    expect(pressed).to_have_count(0)
    use(hands, "Undo")
    assert hands.stored().boxes == ()


def test_light_is_reached_by_tab_and_left_by_escape(hands: Hands) -> None:
    use(hands, "Brightness", "Shift+Tab")
    hands.press("ArrowRight", "Tab", "ArrowLeft")
    light = hands.ask("stage.adjust")
    assert (light["brightness"], light["contrast"]) == (101, 99)
    hands.reach("button", "Reset")
    hands.press("Enter", "Escape")
    assert hands.ask("stage.adjust.brightness") == 100
    assert hands.ask("light.root.hidden")


def test_hidden_boxes_are_neither_seen_nor_hit(hands: Hands) -> None:
    draws_exactly(hands)
    hands.page.mouse.move(1, 1)
    shown = lit(hands)
    hands.press("h")
    assert lit(hands) == 0
    hands.drag((315, 320), (345, 340))
    assert near(hands.stored().boxes[0], (300.5, 310.25, 330.25, 335.5))
    hands.press("h", "f")
    hands.page.mouse.move(1, 1)
    assert lit(hands) == pytest.approx(shown, rel=0.2)


def test_a_crosshair_follows_the_mouse_while_drawing(hands: Hands) -> None:
    hands.page.mouse.move(*hands.spot(200, 200))
    assert lit(hands) == 0
    hands.press("d")
    hands.page.mouse.move(*hands.spot(210, 200))
    assert lit(hands) > 1000
    hands.press("Escape")
    hands.page.mouse.move(1, 1)
    assert lit(hands) == 0


def test_golden_and_board_are_zoomed_and_moved_as_one(hands: Hands, golden: Point) -> None:
    for pane in (0, 1):
        x, y = (round(at) for at in hands.spot(*golden))
        before = hands.point(x, y)
        hands.page.mouse.move(x + pane * hands.ask("stage.view.width"), y)
        hands.page.mouse.wheel(0, -400)
        hands.page.wait_for_function(f"{hands.js}.stage.view.scale > {1 + pane}")
        assert hands.point(x, y) == pytest.approx(before, abs=0.5)
    hands.press("Escape", "Shift+ArrowRight")
    # Beside the defect both show the same place of the same product; on it they differ.
    there = [part(hands, around(golden), pane) for pane in (0, 1)]
    away = (golden[0] + (60 if golden[0] < 320 else -60), golden[1])
    beside = [part(hands, around(away), pane) for pane in (0, 1)]
    assert np.abs(beside[0] - beside[1]).mean() * 2 < np.abs(there[0] - there[1]).mean()


def test_a_box_drawn_on_the_golden_lands_on_the_board(hands: Hands, golden: Point) -> None:
    hands.press("d")
    wide = hands.ask("stage.view.width")
    for n, at in enumerate([(golden[0] - 15, golden[1] - 15), (golden[0] + 15, golden[1] + 15)]):
        x, y = hands.spot(*at)
        hands.page.mouse.move(x + wide, y, steps=3)
        hands.page.mouse.up() if n else hands.page.mouse.down()
    assert near(hands.stored().boxes[0], around(golden, 15))


def test_the_golden_blinks_in_place(hands: Hands, golden: Point) -> None:
    mode(hands, "blink")
    seen = {}
    for shown in ("true", "false"):
        hands.page.wait_for_function(f"{hands.js}.stage.golden.shown === {shown}")
        seen[shown] = part(hands, around(golden))
    assert np.abs(seen["true"] - seen["false"]).mean() > 10
    draws_exactly(hands)


def test_the_difference_is_dark_where_the_board_is_right(hands: Hands, golden: Point) -> None:
    mode(hands, "difference")
    whole = part(hands, (10, 10, 630, 630)).reshape(-1, 4)[:, :3].mean()
    assert part(hands, around(golden)).reshape(-1, 4)[:, :3].mean() > 3 * whole
    draws_exactly(hands)


@pytest.mark.usefixtures("golden")
def test_a_drag_across_the_divider_stays_in_the_picture_where_it_began(hands: Hands) -> None:
    hands.press("d")
    wide = hands.ask("stage.view.width")
    for pane, x, edge in ((0, 500, 640), (1, 100, 0)):
        start, end = hands.spot(x, 300), hands.spot(320, 350)
        hands.page.mouse.move(start[0] + pane * wide, start[1])
        hands.page.mouse.down()
        hands.page.mouse.move(end[0] + (1 - pane) * wide, end[1], steps=4)
        hands.page.mouse.up()
        drawn = hands.stored().boxes[-1]
        assert near(drawn, (min(x, edge), 300, max(x, edge), 350))


def test_light_is_set_by_keys_and_changes_nothing_stored(tab: Page, site: Site) -> None:
    ramp = np.tile(np.linspace(40, 200, 640).astype(np.uint8), (640, 1))
    with site.database.write.begin() as session:
        project = catalogue.create(session, "ramp", Task.DETECT, ["spot"])
        new = NewImage("ramp", site.files.put(boards.png(ramp)), 640, 640)
        images.add(session, project.id, [new], "")
    hands = Hands(tab, site)
    hands.open("ramp")
    seen = [view(hands)]
    for keys in (
        ["l", "PageDown"],
        ["Tab", "PageDown", "PageDown"],
        ["Tab", "PageUp", "PageUp"],
        ["Tab", "Space"],
    ):
        hands.press(*keys)
        seen.append(view(hands))
    assert [np.abs(b - a).mean() > 3 for a, b in itertools.pairwise(seen)] == [True] * 4
    assert seen[1].mean() < seen[0].mean()
    assert hands.ask("stage.adjust")["gamma"] > 1
    hands.press("Tab", "Enter", "Escape")
    assert np.abs(view(hands) - seen[0]).mean() < 1
    draws_exactly(hands)
