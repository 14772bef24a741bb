"""Pictures that have one class each are labelled by keys: one a picture, or any number at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from backend.domain import Image, State
from backend.labels import images
from backend.settings import Settings
from backend.storage import engine, files
from tests.journeys import conftest, sorting
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

RUN = 1_970
COUNT = 30


def stood(site: Site, ids: list[int]) -> list[Image]:
    with site.database.read.begin() as session:
        return [images.get(session, one) for one in ids]


def labels(site: Site, ids: list[int]) -> list[str]:
    return [one.label for one in stood(site, ids)]


def come_to(page: Page, site: Site, ids: list[int], wanted: tuple[str, State]) -> None:
    """Wait until all pictures stand so."""
    while {(one.label, one.state) for one in stood(site, ids)} != {wanted}:
        page.wait_for_timeout(100)


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Site]:
    """A site of its own, whose server may be killed."""
    conftest.chromium()
    url, process = conftest.start(tmp_path, "--no-worker")
    settings = Settings(home=tmp_path)
    database = engine.connect(settings)
    alive = Site(tmp_path, url, process, database, files.connect(settings))
    yield alive
    database.close()
    conftest.stop(alive.process)


def test_thirty_pictures_are_named_by_a_key_each_and_a_kill_loses_none(
    browser: Browser, mortal: Site
) -> None:
    ids = sorting.put(mortal, "by key", COUNT)
    page = browser.new_context(bypass_csp=True, base_url=mortal.url).new_page()
    page.set_default_timeout(120_000)
    hands = Hands(page, mortal)
    hands.open("by key")
    page.wait_for_function(f"{hands.js}.list.length > {COUNT // 3}")
    for at in range(COUNT // 3):
        hands.press(str(at % 3 + 1))
    mortal.process.kill()
    mortal.process.wait()
    at = int(hands.ask("desk.item.name"))
    hands.press(str(at % 3 + 1))
    port = mortal.url.rpartition(":")[2]
    _, mortal.process = conftest.start(mortal.home, "--no-worker", "--port", port)
    for _ in range(COUNT):
        hands.saved()
        if not page.evaluate(f"{hands.js}.place.hidden"):
            break
        at = int(hands.ask("desk.item.name"))
        hands.press(str(at % 3 + 1))
    expect(page.get_by_text("That was the last image of this view")).to_be_visible()
    hands.saved()
    assert labels(mortal, ids) == [sorting.truth(at) for at in range(COUNT)]
    assert {one.state for one in stood(mortal, ids)} == {State.DONE}
    assert all(one.version == 1 for one in stood(mortal, ids))
    page.context.close()


def test_a_accepts_what_the_model_says_and_z_goes_back_to_the_picture(
    page: Page, site: Site
) -> None:
    ids = sorting.put(site, "answered", 4)
    sorting.answer(site.database, ids, RUN, wrong=[1])
    hands = Hands(page, site)
    hands.open("answered")
    said = page.locator("#shell-annotate .lp-answers .lp-row")
    expect(said.first).to_contain_text("good.90")
    expect(page.locator("#shell-annotate .lp-answers .lp-row")).to_have_count(3)
    hands.press("a", "2", "r")
    hands.saved()
    assert [hands.image, *labels(site, ids)] == [ids[3], "good", "scratched", "", ""]
    assert [one.state for one in stood(site, ids)] == [State.DONE] * 3 + [State.NEW]
    for last in (ids[2], ids[1]):
        hands.press("z")
        page.wait_for_function(f"{hands.js}.desk.item.id === {last}")
        assert hands.stored(last).state is State.NEW
    assert [one.state for one in stood(site, ids)] == [State.DONE] + [State.NEW] * 3


def test_no_box_is_shown_or_offered_where_pictures_are_named(page: Page, site: Site) -> None:
    ids = sorting.put(site, "no boxes", 2)
    sorting.answer(site.database, ids, RUN + 1)
    hands = Hands(page, site)
    hands.open("no boxes")
    shell = page.locator("#shell-annotate")
    for name in ("Boxes", "Proposals"):
        expect(shell.get_by_role("heading", name=name, exact=True)).to_be_hidden()
    for does in ("draw", "golden", "hide"):
        expect(shell.locator(f"[data-does={does}]")).to_be_hidden()
    hands.press("?")
    expect(page.get_by_text("None of the classes; on to the next")).to_be_visible()
    expect(page.get_by_text("Choose the next box")).to_have_count(0)


def test_the_most_doubtful_pictures_come_first_where_a_person_asks(page: Page, site: Site) -> None:
    ids = sorting.put(site, "doubtful", 6)
    sorting.answer(site.database, ids, RUN + 2, {3: 0.4, 1: 0.5})
    hands = Hands(page, site)
    hands.open("doubtful")
    page.get_by_label("Most doubtful pictures first").check()
    page.wait_for_function(f"{hands.js}.desk.item.id === {ids[3]}")
    hands.press("a")
    page.wait_for_function(f"{hands.js}.desk.item.id === {ids[1]}")


def test_all_that_are_chosen_in_browse_get_a_class_by_one_key_and_undo_takes_it_back(
    page: Page, site: Site
) -> None:
    ids = sorting.put(site, "many at once", 12)
    page.goto("/?project=many+at+once&tab=browse")
    expect(page.locator(".cell img").first).to_be_visible()
    page.keyboard.press("Control+a")
    expect(page.locator(".bulk")).to_contain_text("12 selected")
    for key, wanted in (
        ("2", ("scratched", State.DONE)),
        ("r", ("", State.DONE)),
        ("z", ("scratched", State.DONE)),
        ("z", ("", State.NEW)),
    ):
        with page.expect_event("requestfinished", lambda sent: sent.method != "GET"):
            page.keyboard.press(key)
        page.evaluate("() => new Promise((done) => setTimeout(done))")  # until the page knows it
        come_to(page, site, ids, wanted)
    assert {one.version for one in stood(site, ids)} == {4}
