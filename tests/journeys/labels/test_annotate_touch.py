"""Fingers on a tablet, and pictures larger than any screen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, expect

from backend.domain import Task
from backend.labels import gallery, images
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from tests.journeys import boards
from tests.journeys.conftest import Site, watch
from tests.journeys.hands import Hands, Point, near

WIDE, HIGH = 12_000, 9_000
NAMES = itertools.count(1)
REST = 200
FRAME = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


@pytest.fixture
def tablet(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    made = browser.new_context(
        bypass_csp=True, base_url=site.url, viewport={"width": 1024, "height": 768}, has_touch=True
    )
    yield made
    made.close()


def touch(session: CDPSession, kind: str, *points: Point) -> None:
    """Put fingers down, move them, or lift them."""
    at: list[dict[str, Any]] = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})


@pytest.fixture
def hands(tablet: BrowserContext, site: Site, complaints: list[str]) -> Iterator[Hands]:
    """Fingers over an image of their own."""
    name = f"touched {next(NAMES)}"
    put = boards.put(site, name, 3)
    found = Hands(tablet.new_page(), site)
    watch(found.page, site.url, complaints)
    found.open(name, put.ids[0])
    yield found
    assert complaints == []


@dataclass
class Fingers:
    """Fingers on the glass, which stand on whole pixels of the screen."""

    hands: Hands
    session: CDPSession

    @classmethod
    def of(cls, hands: Hands) -> Fingers:
        return cls(hands, hands.page.context.new_cdp_session(hands.page))

    def put(self, *points: Point) -> None:
        # A page that is busy for long has its touches cancelled by the browser.
        self.hands.saved()
        self.hands.page.evaluate(FRAME)
        touch(self.session, "touchStart", *points)

    def slide(self, *points: Point) -> None:
        touch(self.session, "touchMove", *points)

    def lift(self) -> None:
        touch(self.session, "touchEnd")

    def at(self, x: float, y: float) -> Point:
        """The pixel of the screen nearest to a point of the image."""
        across, down = self.hands.spot(x, y)
        return round(across), round(down)

    def drag(self, start: Point, end: Point) -> tuple[Point, Point]:
        """One finger from here to there, by way of the middle; the points it touched."""
        a, b = self.at(*start), self.at(*end)
        self.put(a)
        self.slide(((a[0] + b[0]) // 2, (a[1] + b[1]) // 2))
        self.slide(b)
        touched = self.hands.point(*a), self.hands.point(*b)
        # A finger that does not rest before it is lifted flings, and the next tap only stops that.
        self.hands.page.wait_for_timeout(REST)
        self.slide(b)
        self.lift()
        return touched


@pytest.fixture
def fingers(hands: Hands) -> Fingers:
    return Fingers.of(hands)


def draw(fingers: Fingers, start: Point, end: Point) -> tuple[float, float, float, float]:
    """A box by finger; its corners as they were touched."""
    hands = fingers.hands
    hands.page.get_by_role("button", name="Draw").tap()
    (x1, y1), (x2, y2) = fingers.drag(start, end)
    hands.page.wait_for_function(f"{hands.js}.desk.sheet.boxes.length === 1")
    hands.page.get_by_role("button", name="Draw").tap()
    hands.page.wait_for_function(f"!{hands.js}.drawing")
    return x1, y1, x2, y2


def test_a_finger_draws_where_it_went(fingers: Fingers) -> None:
    wanted = draw(fingers, (100, 100), (200, 160))
    assert near(fingers.hands.stored().boxes[0], wanted, within=0.5)


def test_a_finger_moves_a_box_and_pulls_its_corner(fingers: Fingers) -> None:
    hands = fingers.hands
    x1, y1, x2, y2 = draw(fingers, (200, 200), (300, 280))
    (ax, ay), (bx, by) = fingers.drag((250, 240), (310, 300))
    x1, y1, x2, y2 = x1 + bx - ax, y1 + by - ay, x2 + bx - ax, y2 + by - ay
    hands.page.wait_for_function(f"{hands.js}.desk.sheet.boxes[0].x1 > 240")
    assert near(hands.stored().boxes[0], (x1, y1, x2, y2), within=0.5)
    _, (cx, cy) = fingers.drag((x2, y2), (450, 420))
    hands.page.wait_for_function(f"{hands.js}.desk.sheet.boxes[0].x2 > 440")
    assert near(hands.stored().boxes[0], (x1, y1, cx, cy), within=0.5)


def test_two_fingers_zoom_where_they_are_and_never_draw(fingers: Fingers) -> None:
    hands = fingers.hands
    hands.page.get_by_role("button", name="Draw").tap()
    before = hands.ask("stage.view.scale")
    x, y = fingers.at(320, 320)
    held = hands.point(x, y)
    fingers.put((x - 40, y))
    fingers.put((x - 40, y), (x + 40, y))
    fingers.slide((x - 80, y), (x + 80, y))
    fingers.slide((x - 120, y), (x + 120, y))
    hands.page.wait_for_function(f"Math.abs({hands.js}.stage.view.scale / {before} - 3) < 0.01")
    assert hands.point(x, y) == pytest.approx(held, abs=0.5)
    # Both go the same way: the picture goes along.
    down = hands.ask("stage.view.y")
    fingers.slide((x - 100, y + 50), (x + 140, y + 50))
    hands.page.wait_for_function(f"{hands.js}.stage.view.y > {down + 40}")
    assert hands.point(x + 20, y + 50) == pytest.approx(held, abs=0.5)
    fingers.lift()
    assert hands.stored().boxes == ()
    assert hands.ask("drawing")


def test_a_finger_beside_all_boxes_moves_the_picture(fingers: Fingers) -> None:
    hands = fingers.hands
    draw(fingers, (200, 200), (300, 280))
    before = hands.stored()
    start, end = fingers.at(500, 500), fingers.at(450, 470)
    held = hands.point(*start)
    fingers.drag((500, 500), (450, 470))
    hands.page.wait_for_function(f"!{hands.js}.stage.view.fitted")
    # What was under the finger is under it still.
    assert hands.point(*end) == pytest.approx(held, abs=0.5)
    assert hands.stored() == before


def test_images_are_chosen_by_finger_and_changed(
    tablet: BrowserContext, site: Site, complaints: list[str]
) -> None:
    project = site.project(images=4)
    page = tablet.new_page()
    watch(page, site.url, complaints)
    page.goto(f"/?project={project.id}&tab=browse")
    for at in (0, 2):
        page.locator(".cell").nth(at).locator(".pick").tap()
    expect(page.locator(".bulk b")).to_have_text("2")
    page.get_by_label("Set split").select_option("Test")
    expect(page.get_by_text("Split set: 2 images.")).to_be_visible()
    with site.database.read.begin() as session:
        found = gallery.every(session, project.id, gallery.Filter())
        assert [one.image.split == "test" for one in found] == [True, False, True, False]
    assert complaints == []


def test_a_board_of_a_hundred_megapixels_shows_its_pixels(
    tablet: BrowserContext, site: Site, complaints: list[str]
) -> None:
    rng = np.random.default_rng(3)
    small = rng.integers(0, 255, (HIGH // 60, WIDE // 60, 3), np.uint8)
    picture = cv2.resize(small, (WIDE, HIGH), interpolation=cv2.INTER_NEAREST)
    picture[4500:4520, 6000:6020] = (0, 0, 255)
    jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 92])[1]
    with site.database.write.begin() as session:
        project = catalogue.create(session, "huge", Task.DETECT)
        classes.ensure(session, project.id, "spur")
        new = NewImage("panel", site.files.put(jpeg.tobytes()), WIDE, HIGH)
        images.add(session, project.id, [new], "")
    hands = Hands(tablet.new_page(), site)
    watch(hands.page, site.url, complaints)
    hands.open("huge")
    hands.page.evaluate(
        f"{hands.js}.stage.view.show({{x1: 5990, y1: 4490, x2: 6030, y2: 4530}}, 2);"
        f"{hands.js}.stage.redraw()"
    )
    red = """() => {
      const stage = PAGE.stage;
      const at = stage.view.toScreen(6010, 4510);
      const [r, g, b] = stage.below.getContext("2d").getImageData(at.x, at.y, 1, 1).data;
      return r > 200 && g < 60 && b < 60;
    }"""
    hands.page.wait_for_function(red.replace("PAGE", hands.js))
    kept = f"[...{hands.js}.pictures.kept.keys()]"
    hands.page.wait_for_function(f"{kept}.some(url => url.includes('/tile/0/'))")
    assert not any(url.endswith("/full") for url in hands.page.evaluate(kept))
    hands.press("d")
    hands.drag((6000, 4500), (6020, 4520))
    assert near(hands.stored().boxes[0], (6000, 4500, 6020, 4520), within=0.5)
    assert complaints == []
