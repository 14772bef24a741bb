"""Names that are HTML, script or a template of Gradio's are names on every page, no more."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import classes
from tests.journeys import boards
from tests.journeys.conftest import Site

EVIL = "<img src=x onerror=window.bad=1><script>window.bad=2</script>${window.bad=3}{{value}}"
RUN = 900_002
TABS = ("projects", "overview", "browse", "annotate", "train", "detect", "review", "models", "jobs")
VIEWS = (*TABS, f"review&run={RUN}", f"review&run={RUN}&view=wall")
# Where the name of the project, of a class or of an image stands to be read.
READ = ("projects", "browse", "annotate", "train", "review", f"review&run={RUN}")


@pytest.fixture(scope="module")
def evil(site: Site) -> int:
    """A project whose name, class and first image are all the same trick."""
    put = boards.put(site, EVIL, 4, labelled=2)
    boards.detect(site, put, RUN, EVIL)
    with site.database.write.begin() as session:
        for kind in put.project.classes:
            classes.edit(session, kind.id, name=f"{EVIL} {kind.id}")
        sha256 = images.get(session, put.ids[0]).sha256
        images.add(session, put.project.id, [NewImage(EVIL, sha256, 640, 640)], EVIL)
    return put.project.id


@pytest.mark.parametrize("view", VIEWS)
def test_markup_in_names_stays_text(page: Page, evil: int, view: str) -> None:
    tab = view.partition("&")[0]
    page.goto(f"/?project={evil}&tab={view}")
    page.wait_for_selector(f"#shell-{tab} .shell:not([aria-busy])")
    page.wait_for_load_state("networkidle")
    if view in READ:
        page.wait_for_function(
            "([tab, evil]) => document.getElementById(`shell-${tab}`).textContent.includes(evil)",
            arg=[tab, EVIL],
        )
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("window.bad") is None
