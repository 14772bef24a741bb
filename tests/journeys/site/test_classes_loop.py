"""The loop of a project of classes in the browser: folders in, named, trained, swept, taken out."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from backend.domain import Image, State, Task
from backend.labels import gallery, images
from backend.models import registry
from backend.projects import catalogue
from backend.review import tally
from backend.storage.tables import RunRow
from tests.journeys import boards, conftest, sorting
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

pytestmark = [pytest.mark.siege, pytest.mark.timeout(1200)]

LONG = 400_000
NAME = "plates"
TRAIN, VAL, LEFT, NAMED = 36, 12, 24, 6


@pytest.fixture
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with a worker beside it, and a project that is empty."""
    with conftest.served(tmp_path_factory.mktemp("classes")) as started:
        with started.database.write.begin() as session:
            catalogue.create(session, NAME, Task.CLASSIFY, sorting.CLASSES)
        yield started


@pytest.fixture
def desk(browser: Browser, working: Site) -> Iterator[Page]:
    """A page whose every complaint fails the test."""
    with conftest.watched(browser, working, 1440, 900) as opened:
        yield opened


def folders() -> bytes:
    """Pictures in folders of classes, in two splits, and some that nobody has named."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for at in range(TRAIN + VAL + LEFT):
            home = "train" if at < TRAIN else "val" if at < TRAIN + VAL else "more"
            label = f"{sorting.truth(at)}/" if home != "more" else ""
            archive.writestr(f"{home}/{label}{at:03}.png", boards.png(sorting.drawn(at)))
    return packed.getvalue()


def true_class(image: Image) -> str:
    """What a picture shows, by the number in its name."""
    number = re.search(r"(\d+)\.png$", image.name)
    assert number
    return sorting.truth(int(number[1]))


def every(site: Site) -> list[Image]:
    with site.database.read.begin() as session:
        project = catalogue.find(session, NAME).id
        return [one.image for one in gallery.every(session, project, gallery.Filter())]


def bring_in(page: Page) -> None:
    """Drop the folders, packed, into the project."""
    page.goto("/?tab=projects")
    page.locator(".project").get_by_role("button", name="Import").click()
    asked = page.get_by_role("dialog", name=f"Import into {NAME}")
    asked.get_by_label("Pictures, label files or an archive").set_input_files(
        {"name": "plates.zip", "mimeType": "application/zip", "buffer": folders()}
    )
    asked.get_by_role("button", name="Import").click()
    expect(page.get_by_text(f"{TRAIN + VAL + LEFT} images added")).to_be_visible(timeout=LONG)
    page.keyboard.press("Escape")


def name_some(page: Page, site: Site) -> None:
    """A key for each of the first pictures that have no class yet."""
    hands = Hands(page, site)
    hands.open(NAME, state="new")
    named = {one.id: one for one in every(site)}
    for _ in range(NAMED):
        image = hands.image
        hands.press(str(1 + sorting.CLASSES.index(true_class(named[image]))))
        page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.saved()


def retrain(page: Page, name: str) -> str:
    """Click Retrain and wait; returns what the page says of the new model."""
    page.goto(f"/?project={NAME}&tab=train")
    epochs = page.get_by_label("Epochs", exact=True)
    epochs.fill("3")
    epochs.press("Tab")
    page.get_by_role("button", name="Retrain").click()
    page.get_by_role("link", name=f"Look at {name}").wait_for(timeout=LONG)
    return page.get_by_text(re.compile(f"^{name} (is|has|cannot)")).inner_text()


def detected(page: Page, site: Site) -> int:
    """Wait for the detection, beside which there is the run that measured the model."""
    asked = select(RunRow.id).where(RunRow.purpose == "detect", RunRow.finished.is_not(None))
    while True:
        with site.database.read.begin() as session:
            if run := session.scalar(asked):
                return run
        page.wait_for_timeout(300)


def sweep(page: Page, site: Site) -> int:
    """Answer all that the run says, class by class: what is wrong by a digit, the rest at once."""
    truth = {one.id: true_class(one) for one in every(site)}
    wall = "document.querySelector('#shell-review .shell').page.wall"
    rested = f"{wall}.tiles.length && !{wall}.turning && !{wall}.saver.entries.size"
    page.goto(f"/?project={NAME}&tab=detect")
    run = detected(page, site)
    address, keys = f"/?project={NAME}&tab=review&run={run}", 0
    for label in page.evaluate(f"fetch('/api/runs/{run}/wall?label=').then((a) => a.json())")[
        "classes"
    ]:
        page.goto(f"{address}&view=wall&class={label}")
        page.wait_for_function(rested)
        for at, tile in enumerate(page.evaluate(f"{wall}.tiles.map((one) => one.image)")):
            if truth[tile] != label:
                page.evaluate(f"{wall}.point({at})")
                page.keyboard.press(str(1 + sorting.CLASSES.index(truth[tile])))
                keys += 1
        page.keyboard.press("Shift+A")
        keys += 1
        done = "Every picture of this class has its answer."
        expect(page.get_by_text(done)).to_be_visible()
    return run


def test_pictures_come_in_are_named_trained_swept_and_leave_as_folders(
    desk: Page, working: Site
) -> None:
    bring_in(desk)
    assert Counter(one.state for one in every(working)) == {
        State.DONE: TRAIN + VAL, State.NEW: LEFT
    }  # fmt: skip
    name_some(desk, working)
    assert "no other model" in retrain(desk, "v1")

    desk.goto(f"/?project={NAME}&tab=detect")
    desk.get_by_role("combobox", name="Images").select_option("New images")
    desk.get_by_role("button", name=f"Detect in {LEFT - NAMED} images").click()
    run = sweep(desk, working)
    with working.database.read.begin() as session:
        counted = tally.figures(session, run)
        assert counted.images == LEFT - NAMED
        assert [images.get(session, one.id).label for one in every(working)] == [
            true_class(one) for one in every(working)
        ]
    said = retrain(desk, "v2")
    assert re.match(r"v2 is (better than|worse than|not clearly different from) v1 \(", said)
    with working.database.read.begin() as session:
        project = catalogue.find(session, NAME).id
        assert [one.name for one in registry.models(session, project)] == ["v2", "v1"]

    desk.goto("/?tab=projects")
    desk.locator(".project").get_by_role("button", name="Export").click()
    desk.get_by_role("dialog").get_by_role("button", name="Export").click()
    with desk.expect_download(timeout=LONG) as fetched:
        desk.get_by_role("link", name=re.compile("^Download")).click(timeout=LONG)
    with zipfile.ZipFile(fetched.value.path()) as archive:
        homes = Counter(one.split("/")[1] for one in archive.namelist() if one.endswith(".png"))
    assert homes == dict.fromkeys(sorting.CLASSES, (TRAIN + VAL + LEFT) // 3)
