"""The whole loop in the browser alone: label, retrain, detect, review, retrain, is it better?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from sqlalchemy import select

from app.commands.site import SAMPLE
from backend import matching, sample
from backend.domain import Box, Project, State
from backend.labels import gallery
from backend.models import registry
from backend.projects import catalogue
from backend.review import provenance, views
from backend.sample.boards import CLASSES
from backend.storage.tables import RunRow
from tests.journeys import conftest
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands

pytestmark = pytest.mark.slow

LONG = 400_000
DRAWN = 90
DAY = 10
Truth = Mapping[int, Sequence[Box]]


@pytest.fixture
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site as a new person starts it: a worker beside it, and the sample project."""
    with conftest.served(tmp_path_factory.mktemp("loop"), "--sample") as started:
        yield started


@pytest.fixture
def desk(browser: Browser, working: Site) -> Iterator[Page]:
    """A page whose every complaint fails the test."""
    with conftest.watched(browser, working, 1440, 900) as opened:
        yield opened


def drawn_project(page: Page, site: Site) -> tuple[Project, Truth]:
    """The sample project, when the golden board has proposed; and what is truly on its boards."""
    page.goto("/?tab=projects")
    page.get_by_role("link", name="30 unlabelled").wait_for(timeout=LONG)
    with site.database.read.begin() as session:
        project = catalogue.find(session, SAMPLE)
        ids = {
            i.image.name: i.image.id for i in gallery.every(session, project.id, gallery.Filter())
        }
    page.goto(f"/?project={project.id}&tab=detect")
    expect(runs_of(page)).to_have_count(1, timeout=LONG)
    expect(page.get_by_role("progressbar")).to_have_count(0, timeout=LONG)
    truth = {ids[f"{b.name}.png"]: b.boxes for b in sample.draw("pcb", DRAWN) if not b.is_golden}
    return project, truth


def runs_of(page: Page) -> Locator:
    """The rows of the runs on the Detect page."""
    return page.get_by_role("row").filter(has=page.get_by_role("link", name="Review", exact=True))


def answer(found: Mapping[str, Any], truth: Sequence[Box]) -> tuple[str, Box | None]:
    """The key that a person who knows the board presses for a detection, and its defect."""
    corners = np.array([[found["x1"], found["y1"], found["x2"], found["y2"]]], np.float64)
    there = np.array([(b.x1, b.y1, b.x2, b.y2) for b in truth], np.float64).reshape(-1, 4)
    shared = matching.overlaps(corners, there)[0]
    if not len(shared) or shared.max() < 0.3:
        return "r", None
    box = truth[int(shared.argmax())]
    return ("a" if box.label == found["label"] else str(1 + CLASSES.index(box.label))), box


def choose(hands: Hands, found: Mapping[str, Any]) -> None:
    """Bring the choice to a detection, by the key that goes from one to the next."""
    name = f"{found['run']}:{found['idx']}"
    hands.press("Escape")
    while not hands.ask(f"desk.selected.has('{name}')"):
        hands.press("Tab")


def nudge(hands: Hands, box: Mapping[str, Any], defect: Box) -> None:
    """Move the chosen box to where its defect is, a pixel a key, at most three each way."""
    for off, more, less in (
        (defect.x1 - box["x1"], "ArrowRight", "ArrowLeft"),
        (defect.y1 - box["y1"], "ArrowDown", "ArrowUp"),
    ):
        steps = min(3, round(abs(off)))
        hands.press(*[more if off > 0 else less] * steps)


def label_ten(hands: Hands, truth: Truth) -> None:
    """Accept, correct and refuse what the golden board proposes, board by board."""
    for _ in range(DAY):
        image, corrected = hands.image, False
        while meant := hands.ask("meant()[0]"):
            key, defect = answer(meant, truth[image])
            if key != "r" and not corrected:
                key = str(1 + CLASSES.index(defect.label)) if defect else key
            if key.isdigit():
                choose(hands, meant)
            hands.press(key)
            if key.isdigit() and defect:
                nudge(hands, meant, defect)
                hands.press("Escape")
                corrected = True
        hands.press("Enter")
        hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.saved()


def review_ten(hands: Hands, truth: Truth) -> list[int]:
    """Judge what the run found, board by board; returns the boards."""
    seen = []
    for _ in range(DAY):
        image = hands.image
        seen.append(image)
        while open_ := hands.ask("stands.filter(s => s.open)"):
            name = hands.page.evaluate(f"[...{hands.js}.desk.selected][0]")
            named = {f"{s['detection']['run']}:{s['detection']['idx']}": s for s in open_}
            stand = named.get(name)
            if stand is None:
                stand = open_[0]
                choose(hands, stand["detection"])
            key, _ = answer(stand["detection"], truth[image])
            hands.press(key)
        hands.press("Enter")
        hands.page.wait_for_function(f"{hands.js}.desk.item.id !== {image}")
    hands.saved()
    return seen


def retrain(page: Page, project: Project, name: str) -> str:
    """Click Retrain and wait; returns what the page says of the new model."""
    page.goto(f"/?project={project.id}&tab=train")
    page.get_by_role("button", name="Retrain").click()
    done = page.get_by_role("link", name=f"Look at {name}")
    done.wait_for(timeout=LONG)
    said = page.get_by_text(re.compile(f"^{name} (is|has|cannot)")).inner_text()
    done.click()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    return said


def detect(page: Page, site: Site, project: Project) -> int:
    """Run the champion over the images that nobody has labelled; returns the run."""
    page.goto(f"/?project={project.id}&tab=detect")
    runs = runs_of(page)
    expect(runs.first).to_be_visible()
    before = runs.count()
    page.get_by_role("combobox", name="Images").select_option("New images")
    page.get_by_role("button", name="Detect in 20 images").click()
    expect(runs).to_have_count(before + 1, timeout=LONG)
    expect(page.get_by_role("progressbar")).to_have_count(0, timeout=LONG)
    with site.database.read.begin() as session:
        newest = select(RunRow.id).where(RunRow.purpose == "detect").order_by(RunRow.id.desc())
        return session.scalars(newest).first() or 0


def test_a_day_of_labels_makes_a_model_and_its_review_the_next(desk: Page, working: Site) -> None:
    project, truth = drawn_project(desk, working)
    annotating = Hands(desk, working)
    annotating.open(str(project.id), state="new")
    label_ten(annotating, truth)
    assert "no other model" in retrain(desk, project, "v1")

    run = detect(desk, working, project)
    row = runs_of(desk).filter(has=desk.get_by_role("cell", name=f"Run {run}", exact=True))
    row.get_by_role("link", name="Review").click()
    inspecting = Hands(desk, working, "review")
    inspecting.ready()
    seen = review_ten(inspecting, truth)
    said = retrain(desk, project, "v2")
    assert re.match(r"v2 is (better than|worse than|not clearly different from) v1 \(mAP", said)

    with working.database.read.begin() as session:
        assert [one.name for one in registry.models(session, project.id)] == ["v2", "v1"]
        assert views.summary(session, run).reviewed == DAY
        judged = views.items(session, run, seen)
        assert {one.item.image.state for one in judged} == {State.DONE}
        image, box = next(
            (one.item.image.id, b)
            for one in judged
            for b in one.item.boxes
            if one.item.image.split == "train" and b.detection and b.detection.run == run
        )
        chain = [
            f"{link.what}: {link.text}" for link in provenance.why(session, f"{image}:{box.id}")
        ]
    assert any(text.startswith("Model: v1") for text in chain)
    assert any(text.startswith("Taught: v2") for text in chain)
