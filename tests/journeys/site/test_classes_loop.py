"""The loop of classes in the browser: folders in, named by keys, trained, swept, retrained."""

from __future__ import annotations

import io
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import func, select

from backend.domain import Image, State, Task
from backend.labels import gallery
from backend.models import registry
from backend.projects import catalogue
from backend.review import provenance, tally
from backend.settings import Settings
from backend.storage import engine, files
from backend.storage.tables import DetectionRow, RunRow
from tests.journeys import conftest, sorting
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

pytestmark = [pytest.mark.siege, pytest.mark.timeout(3000)]

LONG = 1_200_000
NAME = "plates"
TRAIN, VAL, NAMED, LEFT = 60, 30, 30, 500
COUNT = TRAIN + VAL + NAMED + LEFT
KILLED_AFTER = 15
WALL = "document.querySelector('#shell-review .shell').page.wall"


@pytest.fixture
def working(tmp_path: Path) -> Iterator[Site]:
    """A site with a worker beside it and a project that is empty; its server may be killed."""
    conftest.chromium()
    url, process = conftest.start(tmp_path)
    database = engine.connect(Settings(home=tmp_path))
    alive = Site(tmp_path, url, process, database, files.connect(Settings(home=tmp_path)))
    with database.write.begin() as session:
        catalogue.create(session, NAME, Task.CLASSIFY, sorting.CLASSES)
    yield alive
    database.close()
    conftest.stop(alive.process)


@pytest.fixture
def desk(browser: Browser, working: Site) -> Iterator[Page]:
    """A page whose every complaint fails the test."""
    with conftest.watched(browser, working, 1440, 900) as opened:
        yield opened


def say(what: str, value: object) -> None:
    """A figure of this run, for whoever reads along."""
    sys.stderr.write(f"{what}: {value}\n")


def folders() -> bytes:
    """Pictures in folders of classes, in two splits, and many more that nobody has named."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for at in range(COUNT):
            home = "train" if at < TRAIN else "val" if at < TRAIN + VAL else "more"
            label = f"{sorting.truth(at)}/" if home != "more" else ""
            archive.writestr(f"{home}/{label}{at:03}.png", sorting.plate(at))
    return packed.getvalue()


def number_of(name: str) -> int:
    found = re.search(r"(\d+)\.png$", name)
    assert found
    return int(found[1])


def every(site: Site) -> list[Image]:
    with site.database.read.begin() as session:
        project = catalogue.find(session, NAME).id
        return [one.image for one in gallery.every(session, project, gallery.Filter())]


def right(site: Site) -> int:
    """How many pictures are done and of the class that they show."""
    done = [one for one in every(site) if one.state is State.DONE]
    return sum(one.label == sorting.truth(number_of(one.name)) for one in done)


def bring_in(page: Page) -> None:
    """Drop the folders, packed, into the project."""
    page.goto("/?tab=projects")
    page.locator(".project").get_by_role("button", name="Import").click()
    asked = page.get_by_role("dialog", name=f"Import into {NAME}")
    asked.get_by_label("Pictures, label files or an archive").set_input_files(
        {"name": "plates.zip", "mimeType": "application/zip", "buffer": folders()}
    )
    asked.get_by_role("button", name="Import").click()
    expect(page.get_by_text(f"{COUNT} images added")).to_be_visible(timeout=LONG)


def key_of(at: int) -> str:
    """The key of the class that a picture shows."""
    return str(1 + sorting.CLASSES.index(sorting.truth(at)))


def press_some(hands: Hands, count: int) -> float:
    """A key a picture, each when the picture is there; gives the pictures a second."""
    began = time.monotonic()
    for _ in range(count):
        image = hands.image
        hands.press(key_of(number_of(hands.ask("desk.item.name"))))
        hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    return count / (time.monotonic() - began)


def name_thirty(browser: Browser, site: Site) -> None:
    """Name pictures by keys, while the server is killed in the middle and comes again."""
    page = browser.new_context(bypass_csp=True, base_url=site.url).new_page()
    page.set_default_timeout(120_000)
    hands = Hands(page, site)
    hands.open(NAME, state="new")
    page.wait_for_function(f"{hands.js}.list.length > {KILLED_AFTER // 2}")
    first = press_some(hands, KILLED_AFTER)
    site.process.kill()
    site.process.wait()
    port = site.url.rpartition(":")[2]
    _, site.process = conftest.start(site.home, "--port", port)
    hands.saved()
    second = press_some(hands, NAMED - KILLED_AFTER)
    hands.saved()
    page.context.close()
    say("pictures a second named by keys, before and after the kill", (first, second))
    assert right(site) == TRAIN + VAL + NAMED


def retrain(page: Page, name: str, passes: int) -> str:
    """Click Retrain and wait; returns what the page says of the new model."""
    began = time.monotonic()
    page.goto(f"/?project={NAME}&tab=train")
    epochs = page.get_by_label("Epochs", exact=True)
    epochs.fill(str(passes))
    epochs.press("Tab")
    page.get_by_role("button", name="Retrain").click()
    page.get_by_role("link", name=f"Look at {name}").wait_for(timeout=LONG)
    say(f"seconds to {name}", time.monotonic() - began)
    return page.get_by_text(re.compile(f"^{name} (is|has|cannot)")).inner_text()


def evaluate(page: Page) -> None:
    """Measure the model once more, and look at the pictures of the first cell."""
    page.goto(f"/?project={NAME}&tab=models")
    page.get_by_role("button", name="Evaluate", exact=True).click()
    asked = page.locator("dialog[open]")
    asked.get_by_role("button", name="Evaluate", exact=True).click()
    shown = page.get_by_role("dialog", name="Evaluation of v1")
    number = shown.locator(".confusion a").first
    number.wait_for(timeout=LONG)
    count = int(number.inner_text())
    say("v1", shown.locator(".facts").inner_text())
    number.click()
    expect(page.locator(".lp-boards tbody tr")).to_have_count(count)


def detect(page: Page, site: Site) -> int:
    """Classify what is new; gives the run."""
    began = time.monotonic()
    page.goto(f"/?project={NAME}&tab=detect")
    page.get_by_role("combobox", name="Images").select_option("New images")
    page.get_by_role("button", name=f"Detect in {LEFT} images").click()
    asked = select(RunRow.id).where(RunRow.purpose == "detect", RunRow.finished.is_not(None))
    while time.monotonic() < began + LONG / 1000:
        with site.database.read.begin() as session:
            if run := session.scalar(asked):
                say(f"seconds for {LEFT} pictures", time.monotonic() - began)
                return run
        page.wait_for_timeout(300)
    raise AssertionError("The run did not end.")


@dataclass
class Swept:
    """How many keys and clicks it took to answer all that a run says."""

    pressed: int = 0
    answers: int = 0
    pressed_where_right: int = 0
    answers_where_right: int = 0


def sweep(page: Page, site: Site, run: int) -> Swept:
    """Answer all that the run says: what is wrong by click and digit, then the rest at once."""
    truth = {one.id: number_of(one.name) for one in every(site)}
    counted = Swept()
    for label, left in classes_of(page, run).items():
        page.goto(f"/?project={NAME}&tab=review&run={run}&view=wall&class={label}")
        while left:
            tiles = rested(page)
            wrong = [at for at, one in enumerate(tiles) if sorting.truth(truth[one]) != label]
            for at in wrong:
                page.locator(f"#shell-review .lp-whole[data-at='{at}']").click()
                page.keyboard.press(key_of(truth[tiles[at]]))
            page.keyboard.press("Shift+A")
            counted.pressed += 2 * len(wrong) + 1
            counted.answers += len(tiles)
            counted.pressed_where_right += not wrong
            counted.answers_where_right += 0 if wrong else len(tiles)
            left -= len(tiles)
            turned(page, tiles)
        expect(page.get_by_text("Every picture of this class has its answer.")).to_be_visible()
    return counted


def classes_of(page: Page, run: int) -> dict[str, int]:
    """How many pictures the run has of each class."""
    asked = f"fetch('/api/runs/{run}/wall?label=').then((answer) => answer.json())"
    return dict(page.evaluate(asked)["classes"])


def rested(page: Page) -> list[int]:
    """The pictures on the screen, once it stands."""
    page.wait_for_function(f"{WALL}.tiles.length && !{WALL}.turning")
    return [int(one) for one in page.evaluate(f"{WALL}.tiles.map((one) => one.image)")]


def turned(page: Page, tiles: list[int]) -> None:
    """Wait until another screen stands there, and all is sent."""
    other = f"{WALL}.tiles[0]?.image !== {tiles[0]}"
    page.wait_for_function(f"!{WALL}.turning && !{WALL}.saver.entries.size && {other}")


def told(page: Page, site: Site, run: int) -> None:
    """The figures of the run are those of the answers, and a label leads to its run and model."""
    with site.database.read.begin() as session:
        counted = tally.figures(session, run)
        rows: dict[int, int] = dict(session.execute(per_picture(run)).tuples().all())
        image = min(rows)
        chain = [link.what for link in provenance.why(session, f"{image}:class")]
    assert (counted.images, len(rows), set(rows.values())) == (LEFT, LEFT, {1})
    assert {"Run", "Model", "Decision"} <= {*chain}
    page.goto(f"/?project={NAME}&tab=review&run={run}&view=boards")
    expect(page.get_by_text(f"{LEFT} pictures.")).to_be_visible()


def per_picture(run: int) -> Any:
    """How many answers each picture of a run has."""
    row = DetectionRow
    query = select(row.image_id, func.count()).where(row.run_id == run)
    return query.group_by(row.image_id)


def leave(page: Page) -> None:
    """Take all out as folders."""
    page.goto("/?tab=projects")
    page.locator(".project").get_by_role("button", name="Export").click()
    page.get_by_role("dialog").get_by_role("button", name="Export").click()
    with page.expect_download(timeout=LONG) as fetched:
        page.get_by_role("link", name=re.compile("^Download")).click(timeout=LONG)
    with zipfile.ZipFile(fetched.value.path()) as archive:
        names = [one for one in archive.namelist() if one.endswith(".png")]
    assert Counter(one.split("/")[1] for one in names) == Counter(
        sorting.truth(at) for at in range(COUNT)
    )
    assert all(sorting.truth(number_of(one)) == one.split("/")[1] for one in names)


def test_pictures_come_in_are_named_trained_swept_and_leave_as_folders(
    browser: Browser, desk: Page, working: Site
) -> None:
    bring_in(desk)
    assert right(working) == TRAIN + VAL
    desk.goto("about:blank")  # it would complain of the kill
    name_thirty(browser, working)
    assert "no other model" in retrain(desk, "v1", 12)
    evaluate(desk)
    run = detect(desk, working)
    began = time.monotonic()
    counted = sweep(desk, working, run)
    say("the sweep", f"{counted}, {time.monotonic() - began:.0f} s")
    assert counted.answers == LEFT
    assert counted.pressed_where_right * 100 <= 20 * counted.answers_where_right
    assert right(working) == COUNT
    told(desk, working, run)
    said = retrain(desk, "v2", 4)
    say("verdict", said)
    assert re.match(r"v2 is (better than|worse than|not clearly different from) v1 \(", said)
    with working.database.read.begin() as session:
        project = catalogue.find(session, NAME).id
        assert [one.name for one in registry.models(session, project)] == ["v2", "v1"]
    leave(desk)
