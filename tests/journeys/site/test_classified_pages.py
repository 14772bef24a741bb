"""Every page of a project whose pictures are classified speaks of classes, and of no box."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect
from sqlalchemy.orm import Session

from backend.domain import Task
from backend.labels import state_marks
from backend.models import registry
from backend.projects import catalogue
from backend.runs import detection
from tests.journeys import sorting
from tests.journeys.conftest import Site
from tests.journeys.hands import Hands
from workers.evaluation import classes as worth

RUN = 1_990
PROJECT = "plates"
STRANGE = re.compile(r"\b(IoU|mAP|AP|box|boxes|tiles?|golden|draw|defects?)\b", re.IGNORECASE)
PAGES = {
    "overview": ("", ".overview[data-left='0'] .mark"),
    "browse": ("", ".cell img"),
    "annotate": ("", ".lp-answers .lp-row"),
    "review": ("", ".lp-runs"),
    "review picture": (f"&run={RUN}", ".lp-answers .lp-row"),
    "review table": (f"&run={RUN}&view=boards", ".lp-boards tbody tr"),
    "review wall": (f"&run={RUN}&view=wall&class=good", ".lp-whole"),
    "train": ("", ".two table"),
    "models": ("", ".confusion"),
    "detect": ("", "select:has(option:text('OpenVINO bf16, accuracy .750'))"),
    "jobs": ("", ".job"),
    "projects": ("", ".project"),
}
BARE = "bare"
EMPTY = {
    "overview": ".empty", "browse": ".empty", "annotate": ".lp-empty", "review": ".lp-none",
    "train": ".form-grid", "models": ".empty", "detect": ".warn", "projects": ".project",
}  # fmt: skip
DIALOGS = (
    ("models", "Evaluate"),
    ("models", "Judge a file …"),
    ("models", "Export"),
    ("projects", "Import"),
    ("projects", "Export"),
    ("projects", "Classes"),
)


@pytest.fixture(scope="module")
def made(site: Site) -> list[int]:
    ids = sorting.put(site, PROJECT, 9)
    with site.database.write.begin() as session:
        found = catalogue.find(session, PROJECT)
        _model(session, found.id, site.files.put(b"weights"))
        detection.ask(session, found.id, "v1", source={"images": ids}, author="ana")
        state_marks.name(session, ids[:1], found.classes[0].id, "ana")
        catalogue.create(session, BARE, Task.CLASSIFY, sorting.CLASSES)
    sorting.answer(site.database, ids, RUN)
    return ids


def _model(session: Session, project: int, weights: str) -> None:
    """A classifier that was measured, and right twice of three times."""
    chances = np.eye(3)[[0, 1, 1]] * 0.7 + 0.1
    figures = worth.report([0, 1, 2], chances, sorting.CLASSES)
    figures["confusion"]["run"] = RUN
    model = registry.add(
        session, project, "classifier", classes=sorting.CLASSES, snapshot_id=None,
        parameters={"epochs": 3, "variant": "small", "image_size": 48},
    )  # fmt: skip
    registry.complete(session, model.id, weights, {**figures, "split": "val"})
    ways = [{"runtime": "openvino", "precision": "bf16", "accuracy": 0.75, "ece": 0.1}]
    registry.keep_runtimes(session, model.id, ways)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_word_and_no_control_of_boxes(
    page: Page, site: Site, made: list[int], name: str
) -> None:
    more, shown = PAGES[name]
    tab = name.split()[0]
    page.goto(f"{site.url}/?project={PROJECT}&tab={tab}{more}")
    shell = page.locator(f"#shell-{tab}")
    expect(shell.locator(shown).locator("visible=true").first).to_be_visible()
    if name == "browse":
        expect(shell.get_by_text(f"{len(made)} images", exact=True)).to_be_visible()
        page.keyboard.press("Control+a")
        expect(page.locator(".bulk")).to_contain_text(f"{len(made)} selected")
    if name == "projects":  # others have boxes
        shell = shell.locator(".project").filter(has_text=PROJECT)
    for fold in shell.locator("details").locator("visible=true").all():
        fold.locator("summary").first.click()
    says_nothing_strange(shell)


def says_nothing_strange(place: Locator) -> None:
    """No word of boxes is read there, or stands in the title of what can be used."""
    named = place.locator("button, input, select").locator("visible=true")
    titles = named.evaluate_all("all => all.map((one) => `${one.title} ${one.ariaLabel ?? ''}`)")
    for text in (place.inner_text(), *titles):
        assert not STRANGE.search(text), STRANGE.findall(text)


@pytest.mark.parametrize("tab", EMPTY)
def test_a_project_without_pictures_has_no_word_of_boxes(
    page: Page, site: Site, made: list[int], tab: str
) -> None:
    assert made
    page.goto(f"{site.url}/?project={BARE}&tab={tab}")
    shell = page.locator(f"#shell-{tab}")
    expect(shell.locator(EMPTY[tab]).locator("visible=true").first).to_be_visible()
    says_nothing_strange(
        shell.locator(".project").filter(has_text=BARE) if tab == "projects" else shell
    )


@pytest.mark.parametrize(("tab", "name"), DIALOGS)
def test_no_question_speaks_of_boxes(
    page: Page, site: Site, made: list[int], tab: str, name: str
) -> None:
    assert made
    page.goto(f"{site.url}/?project={PROJECT}&tab={tab}")
    shell = page.locator(f"#shell-{tab}")
    place = shell.locator(".project").filter(has_text=PROJECT) if tab == "projects" else shell
    place.get_by_role("button", name=name, exact=True).click()
    asked = page.locator("dialog[open]")
    expect(asked.get_by_role("button").first).to_be_visible()
    says_nothing_strange(asked)


def test_a_cell_of_the_confusion_opens_its_pictures(
    page: Page, site: Site, made: list[int]
) -> None:
    page.goto(f"{site.url}/?project={PROJECT}&tab=models")
    page.locator(".confusion a").first.click()
    expect(page.get_by_text("Only those labelled good, taken for good.")).to_be_visible()
    rows = page.locator(".lp-boards tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.get_by_role("link", name=f"{0:03}", exact=True)).to_be_visible()
    assert f"image={made[0]}" in (rows.get_by_role("link").last.get_attribute("href") or "")
    expect(page.get_by_text("when it was measured")).to_have_count(0)


def test_a_cell_that_opens_other_pictures_than_it_counted_says_why(
    page: Page, site: Site, made: list[int]
) -> None:
    page.goto(f"{site.url}/?project={PROJECT}&tab=models")
    counted = page.locator(".confusion tbody tr").nth(1).locator("a").first
    assert (counted.inner_text(), len(made)) == ("1", 9)
    counted.click()
    expect(page.get_by_text("No picture is like that.")).to_be_visible()
    expect(page.get_by_text("1 picture when it was measured: since then")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".lp-boards tbody tr")).to_have_count(len(made))
    expect(page.get_by_text("when it was measured")).to_have_count(0)


def test_a_classifier_without_figures_is_not_asked_for_an_overlap(
    page: Page, site: Site, made: list[int]
) -> None:
    assert made
    with site.database.write.begin() as session:
        project = catalogue.create(session, "unmeasured", Task.CLASSIFY, sorting.CLASSES).id
        for _ in range(2):
            one = registry.add(
                session, project, "classifier", classes=sorting.CLASSES, snapshot_id=None,
                parameters={},
            )  # fmt: skip
            registry.complete(session, one.id, site.files.put(b"other weights"), {})
    page.goto(f"{site.url}/?project=unmeasured&tab=models")
    shell = page.locator("#shell-models")
    for name in ("Evaluate", "Judge a file …"):
        shell.get_by_role("button", name=name, exact=True).click()
        asked = page.locator("dialog[open]")
        expect(asked.get_by_role("button").first).to_be_visible()
        says_nothing_strange(asked)
        page.keyboard.press("Escape")
    says_nothing_strange(shell)


@pytest.mark.parametrize("tab", ["annotate", "review"])
def test_the_sheet_of_keys_has_no_key_of_boxes(
    page: Page, site: Site, made: list[int], tab: str
) -> None:
    assert made
    hands = Hands(page, site, tab)
    hands.open(PROJECT, run=str(RUN))
    hands.press("?")
    keys = page.locator("dialog.lp-keys")
    expect(keys).to_contain_text("None of the classes; on to the next")
    assert not STRANGE.search(keys.inner_text()), keys.inner_text()
