"""Every page at every size: nothing is cut off, every word can be read in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from backend.domain import JobState, Task
from backend.jobs import claims, queue
from backend.models import registry, trainings
from backend.projects import catalogue
from backend.storage import tables
from tests.journeys import boards
from tests.journeys.conftest import Site

RUN = 990
SIZES = [(1280, 720), (1440, 900), (2560, 1440), (820, 1180)]
PAGES = {
    "projects": ("tab=projects", ".project"),
    "overview": (f"tab=overview&run={RUN}", ".overview[data-left='0'] .mark"),
    "browse": ("tab=browse", ".cell img"),
    "nothing left": ("tab=browse&text=nothing-is-named-so", ".empty.over h2"),
    "annotate": ("tab=annotate", ".lp-row:visible"),
    "train": ("tab=train", ".two table"),
    "detect": ("tab=detect", "tbody tr"),
    "runs": ("tab=review", ".lp-runs tbody tr"),
    "review": (f"tab=review&run={RUN}", ".lp-row:visible"),
    "wall": (f"tab=review&run={RUN}&view=wall", ".lp-tile"),
    "models": ("tab=models", ".confusion"),
    "jobs": ("tab=jobs", ".job"),
}
EMPTY = ["overview", "browse", "annotate", "train", "detect", "review", "models"]
DIALOGS = {"Classes": "Classes of", "Import": "Import into", "Export": "Export"}
MEASURED = {
    "images": 4, "split": "test", "iou": 0.5, "map50": 1, "map50_95": None,
    "intervals": {"map50": [0.9, 1]},
    "per_class": {
        "open": {"truths": 3, "ap50": 1, "ap50_95": 0, "precision": 1.0, "recall": 0.5, "f1": None}
    },
    "curves": {"open": {"recall": [0, 0.5, 1], "precision": [1, 1, 0.5], "score": [1, 0.5, 0.1]}},
    "confusion": {"labels": ["open", "background"], "matrix": [[3, 0], [1, 0]]},
}  # fmt: skip
WATCH = """
const ask = requestAnimationFrame;
window.requestAnimationFrame = (draw) => { window.asked = performance.now(); return ask(draw); };
"""


@pytest.fixture(scope="module")
def full(site: Site) -> int:
    """A project in which every page has something to show, a failed job too."""
    made = boards.put(site, "a project of every page", 8, labelled=6)
    boards.detect(site, made, RUN - 1)
    boards.detect(site, made, RUN)
    with site.database.write.begin() as session:
        good = trainings.retrain(session, made.project.id, "golden", seed=1, author="ana")
        registry.complete(session, good.model.id, site.files.put(b"w"), MEASURED)
        running = {"state": JobState.RUNNING, "worker": "test"}  # others wait before it, perhaps
        queue.swap(session, (tables.JobRow.id == good.job.id,), **running)
        job = queue.get(session, good.job.id)
        claims.fail(session, job, "The picture board-04.png ends in the middle, at byte 20,480.")
        trainings.retrain(session, made.project.id, "golden", seed=2, author="ben")
    return made.project.id


@pytest.fixture(scope="module")
def empty(site: Site) -> int:
    """A project without images."""
    with site.database.write.begin() as session:
        return catalogue.create(session, "an empty project", Task.DETECT, ["open"]).id


@pytest.fixture(scope="module", autouse=True)
def eyes(tab: Page) -> None:
    tab.add_init_script(path=Path(__file__).with_name("looks.js"))


def cut_off(tab: Page) -> list[str]:
    found: list[str] = []
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        tab.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))"
        )
        found += [f"{width}: {one}" for one in tab.evaluate("looks.layout()")]
    return found


def hard_to_read(tab: Page) -> list[str]:
    found: list[str] = []
    for theme in ("light", "dark"):
        tab.evaluate(
            "(theme) => { document.documentElement.dataset.theme = theme;"
            " document.body.classList.toggle('dark', theme === 'dark'); }",
            theme,
        )
        found += [f"{theme}: {one}" for one in tab.evaluate("looks.colours()")]
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_and_can_be_read(tab: Page, full: int, name: str) -> None:
    query, there = PAGES[name]
    tab.goto(f"/?project={full}&{query}")
    tab.locator(there).first.wait_for()
    assert cut_off(tab) == []
    assert hard_to_read(tab) == []


def test_what_is_done_to_many_is_whole_and_can_be_read(tab: Page, full: int) -> None:
    tab.goto(f"/?project={full}&tab=browse")
    tab.locator(".cell").first.click(modifiers=["Control"])
    tab.locator(".bulk b").wait_for()
    assert cut_off(tab) == []
    assert hard_to_read(tab) == []


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_page_says_what_it_is_for(tab: Page, empty: int, name: str) -> None:
    tab.goto(f"/?project={empty}&tab={name}")
    panel = tab.get_by_role("tabpanel").filter(visible=True)
    panel.locator("p").filter(visible=True).first.wait_for()
    assert cut_off(tab) == []
    assert hard_to_read(tab) == []


@pytest.mark.parametrize("name", DIALOGS)
def test_a_dialog_is_whole_and_can_be_read(tab: Page, full: int, name: str) -> None:
    assert full
    tab.goto("/?tab=projects")
    card = tab.get_by_role("article").filter(has_text="a project of every page")
    card.get_by_role("button", name=name).click()
    tab.get_by_role("dialog", name=DIALOGS[name]).wait_for()
    assert cut_off(tab) == []
    assert hard_to_read(tab) == []
    tab.keyboard.press("Escape")


@pytest.mark.parametrize("name", ["browse", "annotate"])
def test_the_keys_are_whole_and_can_be_read(tab: Page, full: int, name: str) -> None:
    tab.goto(f"/?project={full}&tab={name}")
    tab.locator(PAGES[name][1]).first.wait_for()
    tab.keyboard.press("?")
    tab.get_by_role("dialog").wait_for()
    assert cut_off(tab) == []
    assert hard_to_read(tab) == []


def test_the_eyes_see_what_is_wrong(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 300, "height": 200})
    page.add_init_script(path=Path(__file__).with_name("looks.js"))
    page.goto("about:blank")
    page.set_content(
        "<div style='width:200px;overflow:hidden;color:#999;background:#fff'>pale"
        "<button style='margin-left:180px'>cut</button></div>"
    )
    (cut,), (pale,) = page.evaluate("[looks.layout(), looks.colours()]")
    assert ("cut" in cut, "pale" in pale) == (True, True)
    page.close()


def test_a_page_that_stands_still_asks_for_no_frames(page: Page, full: int) -> None:
    page.add_init_script(WATCH)
    page.goto(f"/?project={full}&tab=annotate")
    page.locator(".lp-row:visible").first.wait_for()
    page.wait_for_function("performance.now() - window.asked > 500", polling=100)
