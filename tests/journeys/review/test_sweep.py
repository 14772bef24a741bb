"""A sweep of classified pictures: a screen by one key, and each picture before one person alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from backend.domain import State, Verdict
from backend.labels import images
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Subject
from tests.journeys import sorting
from tests.journeys.conftest import Site

RUN = 1_980
COUNT = 300
MOST_KEYS = 20  # for a hundred pictures of which the model is right
TILES = "#shell-review .lp-whole"
Said = tuple[str, State, Verdict | None]


@pytest.fixture
def ids(site: Site) -> list[int]:
    made = sorting.put(site, f"sweep {RUN}", COUNT)
    # Of the class that is swept first, the surest is the first picture.
    sorting.answer(site.database, made, RUN, {at: 0.95 - at / 1000 for at in range(COUNT)})
    return made


def said(site: Site, ids: list[int], run: int = RUN) -> list[Said]:
    """The class, the state and the verdict of each picture."""
    with site.database.read.begin() as session:
        standing = decisions.standing(session, ids, [run])
        found = [images.get(session, one) for one in ids]
    stands = [standing[one.id].get(Subject(run, 0)) for one in found]
    pairs = zip(found, stands, strict=True)
    return [(one.label, one.state, now.verdict if now else None) for one, now in pairs]


def answered(site: Site, ids: list[int], run: int = RUN) -> int:
    with site.database.read.begin() as session:
        standing = decisions.standing(session, ids, [run])
    return sum(Subject(run, 0) in standing[one] for one in ids)


def until(page: Page, site: Site, ids: list[int], number: int) -> None:
    """Wait until so many pictures have an answer."""
    while answered(site, ids) != number:
        page.wait_for_timeout(100)


def rested(page: Page) -> None:
    """Wait until all is sent and no other screen is on its way."""
    wall = "document.querySelector('#shell-review .shell').page.wall"
    page.wait_for_function(f"!{wall}.turning && !{wall}.saver.entries.size")


def open_wall(page: Page, name: str) -> None:
    page.goto(f"/?project=sweep+{RUN}&tab=review&run={RUN}&view=wall&class={name}")
    expect(page.locator(TILES).first).to_be_visible()


def here(page: Page) -> list[int]:
    """The pictures on the screen, in their order."""
    tiles = "document.querySelector('#shell-review .shell').page.wall.tiles"
    return [int(one) for one in page.evaluate(f"{tiles}.map((tile) => tile.image)")]


def test_a_run_is_swept_by_few_keys_and_taken_back_as_it_was(
    page: Page, site: Site, ids: list[int]
) -> None:
    open_wall(page, "good")
    good = ids[::3][::-1]
    shown = here(page)
    assert shown == good[: len(shown)]
    page.keyboard.press("2")
    page.keyboard.press("r")
    page.keyboard.press("a")
    until(page, site, ids, 3)
    assert said(site, good[:3]) == [
        ("scratched", State.DONE, Verdict.CORRECT),
        ("", State.DONE, Verdict.FALSE_CALL),
        ("good", State.DONE, Verdict.ACCEPT),
    ]
    for _ in range(3):
        page.keyboard.press("z")
    until(page, site, ids, 0)
    assert said(site, good[:3]) == [("", State.NEW, None)] * 3
    keys = 0
    while answered(site, good) < len(good) == COUNT // 3:
        page.keyboard.press("Shift+A")
        keys += 1
        rested(page)
        assert keys <= MOST_KEYS
    expect(page.get_by_text("Every picture of this class has its answer.")).to_be_visible()
    assert set(said(site, good)) == {("good", State.DONE, Verdict.ACCEPT)}
    page.keyboard.press("z")
    expect(page.locator(TILES).first).to_be_visible()
    rested(page)
    assert answered(site, good) < len(good)


@pytest.fixture
def other(context: BrowserContext) -> Iterator[Page]:
    """Another tab, as another person has it."""
    page = context.new_page()
    yield page
    page.close()


def test_what_one_has_no_other_sees_until_it_is_given_back(
    page: Page, other: Page, site: Site
) -> None:
    put = sorting.put(site, f"sweep {RUN + 1}", 30)
    sorting.answer(site.database, put, RUN + 1)
    wall = f"/?project=sweep+{RUN + 1}&tab=review&run={RUN + 1}&view=wall&class=bent"
    page.goto(wall)
    expect(page.locator(TILES)).to_have_count(10)
    before = page.evaluate("sessionStorage['loupe:holder']")
    page.reload()
    expect(page.locator(TILES)).to_have_count(10)
    late, said = f"/api/runs/{RUN + 1}/give-back", {"holder": before}
    assert page.request.post(late, data=said, headers={"X-Loupe": "1"}).ok
    other.goto(wall)
    expect(other.get_by_text("Others have what is left of this class.")).to_be_visible()
    expect(other.get_by_text("10 left, 1 other here")).to_be_visible()
    page.goto("about:blank")
    while not other.locator(TILES).count():
        other.keyboard.press("Enter")
        other.wait_for_timeout(300)
    expect(other.locator(TILES)).to_have_count(10)


def test_nothing_is_taken_before_what_was_held_is_given_back(page: Page, site: Site) -> None:
    put = sorting.put(site, f"sweep {RUN + 2}", 30)
    sorting.answer(site.database, put, RUN + 2)
    told: list[str] = []
    page.on("request", lambda sent: told.append(f"asks {sent.url.rpartition('/')[2]}"))
    page.on("requestfinished", lambda sent: told.append(f"has {sent.url.rpartition('/')[2]}"))
    page.goto(f"/?project=sweep+{RUN + 2}&tab=review&run={RUN + 2}&view=wall&class=bent")
    expect(page.locator(TILES)).to_have_count(10)
    assert told.index("has give-back") < told.index("asks sweep")
