"""No edit is lost: without a line, over a reload, with a killed server, against another person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from backend.domain import Box, State
from backend.labels import gallery, images, labelling
from backend.labels.images import NewImage
from backend.settings import Settings
from backend.storage import engine, files
from tests.journeys import boards, conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands, near


@pytest.fixture(scope="module")
def put(site: Site) -> boards.Boards:
    return boards.put(site, "saving", 12)


@pytest.fixture
def person(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """A browser whose line is cut on purpose, so it may complain."""
    made = browser.new_context(
        bypass_csp=True, base_url=site.url, viewport={"width": 1440, "height": 900}
    )
    yield made
    made.close()


@pytest.fixture
def hands(person: BrowserContext, site: Site) -> Hands:
    return Hands(person.new_page(), site)


def other_saves(site: Site, image: int, box: Box) -> None:
    with site.database.write.begin() as session:
        seen = labelling.boxes_of(session, [image])[image]
        version = labelling.history(session, image)[0].version
        labelling.save(session, image, version, [*seen, box], "ana")


def test_an_edit_without_a_line_is_kept_and_sent_later(hands: Hands, put: boards.Boards) -> None:
    hands.open("saving", put.ids[0])
    hands.page.context.set_offline(True)
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.says("offline")
    hands.page.context.set_offline(False)
    assert near(hands.stored().boxes[0], (50, 50, 90, 90))


def test_an_edit_without_a_line_survives_a_reload(
    hands: Hands, put: boards.Boards, person: BrowserContext
) -> None:
    hands.open("saving", put.ids[1])
    # Only saves fail, so that the page itself can be loaded again.
    person.route("**/api/images/*/boxes", lambda route: route.abort())
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.drag((150, 150), (190, 190))
    hands.says("offline")
    hands.page.reload()
    hands.ready()
    assert len(hands.ask("desk.sheet.boxes")) == 2
    person.unroute("**/api/images/*/boxes")
    assert len(hands.stored().boxes) == 2


def test_what_a_closed_tab_left_is_sent_by_the_next(
    hands: Hands, put: boards.Boards, person: BrowserContext, site: Site
) -> None:
    hands.open("saving", put.ids[2])
    person.route("**/api/images/*/boxes", lambda route: route.abort())
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.says("offline")
    hands.page.close()
    person.unroute("**/api/images/*/boxes")
    later = Hands(person.new_page(), site)
    later.open("saving", put.ids[5])
    assert len(later.stored(put.ids[2]).boxes) == 1


def test_leaving_at_once_loses_nothing(hands: Hands, put: boards.Boards) -> None:
    hands.open("saving", put.ids[3])
    draw = f"{hands.js}.desk.draw({{ x1: 50, y1: 50, x2: 90, y2: 90 }})"
    hands.page.evaluate(f"{draw}; setTimeout(() => location.assign('about:blank'))")
    hands.page.wait_for_url("about:blank")
    # Nobody comes back to send it again.
    assert len(hands.arrived(put.ids[3]).boxes) == 1


def test_a_save_whose_answer_was_lost_is_no_conflict(
    hands: Hands, put: boards.Boards, person: BrowserContext
) -> None:
    hands.open("saving", put.ids[6])

    def deliver_and_drop(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]
        route.abort()  # type: ignore[attr-defined]

    person.route("**/api/images/*/boxes", deliver_and_drop, times=1)
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.says("offline")
    hands.drag((150, 150), (190, 190))
    assert len(hands.stored().boxes) == 2
    assert hands.page.locator("dialog.lp-conflict").count() == 0


@pytest.mark.parametrize(("choice", "boxes"), [("mine", 2), ("theirs", 2), ("both", 3)])
def test_a_conflict_shows_both_sides_and_does_what_is_chosen(
    hands: Hands, put: boards.Boards, site: Site, choice: str, boxes: int
) -> None:
    image = put.ids[7 + ["mine", "theirs", "both"].index(choice)]
    hands.open("saving", image)
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.saved()
    other_saves(site, image, Box(300, 300, 340, 340, put.project.classes[1].name))
    hands.drag((150, 150), (190, 190))
    dialog = hands.page.locator("dialog.lp-conflict")
    dialog.wait_for()
    expect(dialog).to_contain_text("ana")
    hands.reach(
        "button", {"mine": "Keep mine", "theirs": "Load theirs", "both": "Keep both"}[choice]
    )
    hands.press("Enter")
    stored = hands.stored(image)
    assert len(stored.boxes) == boxes
    assert any(near(box, (150, 150, 190, 190)) for box in stored.boxes) == (choice != "theirs")
    assert any(near(box, (300, 300, 340, 340)) for box in stored.boxes) == (choice != "mine")


def test_two_comments_at_once_are_a_conflict_and_both_are_kept(
    hands: Hands, put: boards.Boards, site: Site
) -> None:
    image = put.ids[10]
    hands.open("saving", image)
    with site.database.write.begin() as session:
        version = labelling.version_of(session, image)
        labelling.save(session, image, version, (), "ana", comment="scratched")
    hands.press("c")
    hands.page.keyboard.type("bent pin")
    hands.press("Enter")
    dialog = hands.page.locator("dialog.lp-conflict")
    dialog.wait_for()
    expect(dialog).to_contain_text("scratched")
    dialog.locator("[data-choice=both]").click()
    assert hands.stored(image).comment == "scratched\nbent pin"


def test_an_image_deleted_meanwhile_is_told_once_and_holds_nothing_up(
    hands: Hands, put: boards.Boards
) -> None:
    page, image = hands.page, put.ids[4]
    hands.open("saving", image)
    deleted = page.request.post(
        f"{hands.site.url}/api/projects/{put.project.id}/images/change",
        data={"images": [image], "action": "delete"},
        headers={"X-Loupe": "1"},
    )
    assert deleted.ok
    told, status = page.get_by_role("alert"), page.locator("#shell-annotate .lp-saved")
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    name = hands.ask("desk.item.name")
    expect(told).to_contain_text(f"{name}: Image {image} has been deleted; nothing was saved.")
    expect(status).to_have_text("Saved")
    hands.drag((150, 150), (190, 190))
    hands.saved()
    assert told.count() == 1
    hands.press("j")
    page.wait_for_function(f"{hands.js}.desk.item.id === {put.ids[5]}")
    hands.drag((250, 250), (290, 290))
    assert near(hands.stored(put.ids[5]).boxes[-1], (250, 250, 290, 290))
    # An address that names the deleted image leads to the others.
    hands.open("saving", image)
    expect(told).to_contain_text(f"There is no image {image} in this project")
    expect(status).to_have_text("Saved")
    assert hands.image == put.ids[0]


def test_a_restore_that_comes_too_late_says_so_and_shows_what_is_newer(
    hands: Hands, put: boards.Boards, site: Site
) -> None:
    image = put.ids[11]
    hands.open("saving", image)
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.saved()
    hands.press("Delete")
    hands.saved()
    hands.page.locator("summary", has_text="History").first.click()
    revisions = hands.page.locator(".lp-revision")
    expect(revisions).to_have_count(2)
    other_saves(site, image, Box(300, 300, 340, 340, put.project.classes[1].name))
    hands.page.get_by_role("button", name="Restore").click()
    expect(hands.page.get_by_role("alert")).to_contain_text("ana has changed")
    expect(revisions).to_have_count(3)
    expect(revisions.first).to_contain_text("ana")
    assert near(hands.stored().boxes[0], (300, 300, 340, 340))


@pytest.fixture
def walked(hands: Hands, site: Site) -> Hands:
    """The line was cut long before the last image that is at hand, and of many more."""
    project = site.project(images=3)
    with site.database.write.begin() as session:
        first = gallery.page(session, project.id, gallery.Filter()).items[0].image
        many = [NewImage(f"z{number:02}.png", first.sha256, 640, 640) for number in range(40)]
        images.add(session, project.id, many, "test")
    hands.open(str(project.id))
    hands.page.context.set_offline(True)
    for at in range(1, len(hands.ask("list"))):
        hands.press("j")
        hands.page.wait_for_function(f"{hands.js}.at === {at} && !{hands.js}.extending")
    return hands


def test_a_failure_that_goes_on_is_told_once(walked: Hands) -> None:
    told = walked.page.get_by_role("alert").all_inner_texts()
    assert [text.partition("×")[0].strip() for text in told] == [
        "The server does not answer. Is it still running?"
    ]


def test_the_end_of_what_is_at_hand_is_not_the_end_of_the_view(walked: Hands) -> None:
    page, last = walked.page, walked.image
    walked.press("Enter")
    page.wait_for_function(f"{walked.js}.stage.hush.textContent")
    assert page.get_by_text("That was the last image of this view").count() == 0
    expect(page.locator("#shell-annotate .lp-hush")).to_have_text(
        "The next images could not be fetched."
    )
    page.context.set_offline(False)
    walked.press("Enter")
    page.wait_for_function(f"{walked.js}.desk.item.id !== {last}")
    assert walked.stored(last).state is State.DONE


def test_a_server_killed_under_the_hands_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    url, process = conftest.start(tmp_path, "--no-worker")
    settings = Settings(home=tmp_path)
    site = Site(tmp_path, url, process, engine.connect(settings), files.connect(settings))
    put = boards.put(site, "killed", 3)
    context = browser.new_context(bypass_csp=True, viewport={"width": 1440, "height": 900})
    hands = Hands(context.new_page(), site)
    hands.open("killed", put.ids[0])
    hands.press("d")
    hands.drag((50, 50), (90, 90))
    hands.saved()
    process.kill()
    process.wait()
    hands.drag((150, 150), (190, 190))
    hands.says("offline")
    port = url.rsplit(":", 1)[1]
    site.url, site.process = conftest.start(tmp_path, "--no-worker", "--port", port)
    assert [round(box.x1) for box in hands.stored().boxes] == [50, 150]
    context.close()
    site.database.close()
    conftest.stop(site.process)
