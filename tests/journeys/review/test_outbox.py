"""Saves and sweeps have one way out: each tab sends its own, once, and each image is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from backend.domain import Detection, RunImage, Verdict
from backend.labels import images, labelling
from backend.review.deciding import decisions
from backend.sample.boards import CLASSES
from backend.storage import findings
from tests.journeys import boards
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands, near

NO_LOCKS = "delete Navigator.prototype.locks"


@pytest.fixture
def person(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A browser whose line is cut on purpose, so it may complain."""
    made = browser.new_context(
        bypass_csp=True, base_url=site.url, viewport={"width": 1280, "height": 720}
    )
    made.set_default_timeout(60_000)
    yield made
    made.close()


def put(site: Site, run: int, count: int) -> boards.Boards:
    made = boards.put(site, f"outbox {run}", count)
    boards.detect(site, made, run)
    return made


def wall(person: BrowserContext, site: Site, made: boards.Boards, run: int) -> Hands:
    """A tab at the wall of a run, with its requests written down."""
    page = person.new_page()
    address = f"?project={made.project.id}&tab=review&run={run}&view=wall&class={CLASSES[0]}"
    page.goto(f"{site.url}/{address}")
    page.locator(".lp-tile.current").wait_for()
    return Hands(page, site, "review")


def sent(page: Page) -> list[Request]:
    """The parts of sweeps that a page sends from now on."""
    found: list[Request] = []
    page.on("request", lambda one: found.append(one) if one.url.endswith("/decide") else None)
    return found


def refused(site: Site, run: int, ids: tuple[int, ...]) -> int:
    """How many detections are false calls."""
    with site.database.read.begin() as session:
        found = decisions.standing(session, ids, [run])
    return sum(
        one.verdict is Verdict.FALSE_CALL for said in found.values() for one in said.values()
    )


def test_an_image_that_fails_is_shown_as_it_was_and_said(
    person: BrowserContext, site: Site
) -> None:
    made = put(site, 941, 3)
    hands = wall(person, site, made, 941)
    total = hands.page.locator(".lp-tile").count()
    with site.database.write.begin() as session:
        images.put_away(session, made.ids[:1])
    hands.press("Control+a", "r")
    told = hands.page.get_by_role("alert")
    expect(told).to_contain_text(f"of {total} crops")
    expect(told).to_contain_text("has been deleted")
    hands.saved()
    taken = refused(site, 941, made.ids[1:])
    expect(hands.page.locator(".lp-tile.false_call")).to_have_count(taken)
    assert 0 < taken < total


def test_a_sweep_of_any_size_goes_in_parts_and_each_part_once(
    person: BrowserContext, site: Site
) -> None:
    every = boards.put(site, "outbox 942", 4)
    made, other = replace(every, ids=every.ids[:3]), every.ids[3]
    boards.detect(site, made, 942)
    many = tuple(Detection(9.0, 9.0, 30.0, 30.0, CLASSES[0], 0.6, at) for at in range(900))
    with site.database.write.begin() as session:
        findings.record(session, 942, [RunImage(other, "many", detections=many)])
        findings.finish(session, 942, 1.0, {})
    hands = wall(person, site, made, 942)
    while hands.ask("wall.tiles.length") < hands.ask("wall.total"):
        hands.page.evaluate(f"{hands.js}.wall.loading ?? {hands.js}.wall.load()")
    parts = sent(hands.page)
    hands.press("Control+a", "r")
    hands.saved()
    sizes = [len(json.loads(one.post_data or "")["items"]) for one in parts]
    assert [size <= 400 for size in sizes] == [True] * 3
    assert sum(sizes) == hands.ask("wall.total") == refused(site, 942, (*made.ids, other))


@pytest.mark.parametrize("locks", ["", NO_LOCKS])
def test_two_tabs_send_each_its_own_sweep_once(
    person: BrowserContext, site: Site, locks: str
) -> None:
    run = 943 if locks else 944
    made = put(site, run, 3)
    person.add_init_script(locks)
    person.route("**/decide", lambda route: route.abort())
    one, two = (wall(person, site, made, run) for _ in range(2))
    for at, hands in enumerate((one, two)):
        hands.page.bring_to_front()
        hands.press(*["ArrowRight"] * at, "r")
        hands.says("offline")
    parts = [*map(sent, (one.page, two.page))]
    person.unroute("**/decide")
    for hands in (one, two):
        hands.page.evaluate(f"{hands.js}.saver.retry()")
        hands.saved()
    assert [len({one.post_data for one in tab}) for tab in parts] == [1, 1]
    assert refused(site, run, made.ids) == 2


def test_two_dead_tabs_that_changed_one_image_both_have_their_say(
    person: BrowserContext, site: Site
) -> None:
    made = boards.put(site, "outbox dead", 2)
    image = made.ids[0]
    person.route("**/api/images/*/boxes", lambda route: route.abort())
    for at in (50, 150):
        hands = Hands(person.new_page(), site)
        hands.open(str(made.project.id), image)
        hands.press("d")
        hands.drag((at, at), (at + 40, at + 40))
        hands.says("offline")
    for page in person.pages:
        page.close()
    person.unroute("**/api/images/*/boxes")
    later = Hands(person.new_page(), site)
    later.open(str(made.project.id), made.ids[1])
    dialog = later.page.locator("dialog.lp-conflict")
    dialog.wait_for()
    dialog.locator("[data-choice=both]").click()
    boxes = later.stored(image).boxes
    assert sorted(round(box.x1) for box in boxes) == [50, 150]


def test_a_page_after_a_sweep_knows_what_was_swept(person: BrowserContext, site: Site) -> None:
    made = put(site, 945, 3)
    hands = wall(person, site, made, 945)
    hands.page.evaluate(f"{hands.js}.wall.open(0)")
    hands.ready()
    image = hands.image
    hands.press("w")
    hands.page.locator(".lp-tile.current").wait_for()
    hands.press("a")
    hands.saved()
    hands.press("w")
    hands.page.wait_for_function(f"{hands.js}.desk.item?.id === {image}")
    hands.page.wait_for_function(f"{hands.js}.desk.item.version > 0")
    hands.press("d")
    hands.drag((400, 400), (440, 440))
    stored = hands.stored(image)
    assert any(near(box, (400, 400, 440, 440)) for box in stored.boxes)
    assert hands.page.locator("dialog.lp-conflict").count() == 0


def test_the_next_save_over_one_whose_answer_was_lost_is_no_conflict(
    person: BrowserContext, site: Site
) -> None:
    made = boards.put(site, "outbox lost", 2)
    hands = Hands(person.new_page(), site)
    hands.open(str(made.project.id), made.ids[0])

    def deliver_and_drop(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    person.route("**/api/images/*/boxes", deliver_and_drop, times=1)
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.says("offline")
    hands.page.evaluate(f"{hands.js}.saver.retry()")
    assert len(hands.stored().boxes) == 1
    with site.database.read.begin() as session:
        assert len(labelling.history(session, made.ids[0])) == 1
