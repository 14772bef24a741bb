"""Fingers on a tablet, and pictures larger than any screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession

from backend.domain import Task
from backend.services import images, projects
from backend.services.images import NewImage
from tests.journeys import boards
from tests.journeys.conftest import Site, watch
from tests.journeys.hands import Hands, Point, near

WIDE, HIGH = 12_000, 9_000


@pytest.fixture
def tablet(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    made = browser.new_context(
        base_url=site.url, viewport={"width": 1024, "height": 768}, has_touch=True
    )
    yield made
    made.close()


def touch(session: CDPSession, kind: str, *points: Point) -> None:
    """Put fingers down, move them, or lift them."""
    at: list[dict[str, Any]] = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})


def test_a_finger_draws_and_two_fingers_zoom(tablet: BrowserContext, site: Site) -> None:
    put = boards.put(site, "touched", 3)
    hands = Hands(tablet.new_page(), site)
    complaints: list[str] = []
    watch(hands.page, site.url, complaints)
    hands.open("touched", put.ids[0])
    session = tablet.new_cdp_session(hands.page)
    hands.page.get_by_role("button", name="Draw").tap()
    touch(session, "touchStart", hands.spot(100, 100))
    touch(session, "touchMove", hands.spot(150, 130))
    touch(session, "touchMove", hands.spot(200, 160))
    touch(session, "touchEnd")
    hands.page.wait_for_function(f"{hands.js}.desk.sheet.boxes.length === 1")
    assert near(hands.stored().boxes[0], (100, 100, 200, 160), within=1.5)
    before = hands.ask("stage.view.scale")
    x, y = hands.spot(320, 320)
    touch(session, "touchStart", (x - 40, y), (x + 40, y))
    touch(session, "touchMove", (x - 80, y), (x + 80, y))
    touch(session, "touchMove", (x - 120, y), (x + 120, y))
    touch(session, "touchEnd")
    hands.page.wait_for_function(f"Math.abs({hands.js}.stage.view.scale / {before} - 3) < 0.15")
    assert len(hands.stored().boxes) == 1
    assert complaints == []


def test_a_board_of_a_hundred_megapixels_shows_its_pixels(
    tablet: BrowserContext, site: Site
) -> None:
    rng = np.random.default_rng(3)
    small = rng.integers(0, 255, (HIGH // 60, WIDE // 60, 3), np.uint8)
    picture = cv2.resize(small, (WIDE, HIGH), interpolation=cv2.INTER_NEAREST)
    picture[4500:4520, 6000:6020] = (0, 0, 255)
    jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 92])[1]
    with site.database.write.begin() as session:
        project = projects.create(session, "huge", Task.DETECT)
        projects.ensure_class(session, project.id, "spur")
        new = NewImage("panel", site.files.put(jpeg.tobytes()), WIDE, HIGH)
        images.add(session, project.id, [new], "")
    hands = Hands(tablet.new_page(), site)
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
