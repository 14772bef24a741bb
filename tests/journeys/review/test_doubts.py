"""Labels in doubt, gone through by keys: mended, taken back, found right."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from playwright.sync_api import Page, expect
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain import Box, Task
from backend.jobs import claims, kinds, queue
from backend.jobs.lanes import Lane
from backend.labels import images, labelling
from backend.models import snapshots
from backend.projects import catalogue
from backend.review.doubts import inbox
from backend.review.doubts.inbox import Raised
from backend.review.doubts.scoring import Kind
from backend.storage.tables import DismissalRow
from tests.journeys import boards
from tests.journeys.boards import Boards
from tests.journeys.conftest import Site

NAME = "labels in doubt"


def lay(site: Site, made: Boards) -> Box:
    """What a search has found that is over."""
    with site.database.write.begin() as session:
        frozen = snapshots.freeze(session, made.project.id, 0, "ana").id
        job = queue.enqueue(session, kinds.Doubts(made.project.id, frozen)).id
        queue.cancel(session, job)
        return raise_doubts(session, made, job)


def raise_doubts(session: Session, made: Boards, job: int) -> Box:
    """A label of the first board is spurious, or lies badly."""
    image = images.get(session, made.ids[0])
    label = labelling.boxes_of(session, [image.id])[image.id][0]
    found = labelling.called(session, image.id, [replace(label, id="", x1=3, x2=40)])[0]
    raised = [
        Raised(image.id, image.sha256, image.version, Kind.SPURIOUS, 0.9, label, None),
        Raised(image.id, image.sha256, image.version, Kind.LOOSE, 0.8, label, found, 0.7),
    ]
    inbox.keep(session, made.project.id, job, raised)
    return label


def labels(site: Site, made: Boards) -> set[str]:
    with site.database.read() as session:
        return {box.id for box in labelling.boxes_of(session, [made.ids[0]])[made.ids[0]]}


def dismissed(site: Site, made: Boards) -> int:
    mine = DismissalRow.project_id == made.project.id
    with site.database.read() as session:
        return session.scalar(select(func.count()).select_from(DismissalRow).where(mine)) or 0


def test_labels_in_doubt_are_gone_through_by_keys(page: Page, site: Site) -> None:
    made = boards.put(site, NAME, 3, labelled=2)
    label = lay(site, made)
    boards.detect(site, made, 1961)
    page.goto(f"{site.url}/?project={quote(NAME)}&tab=review")
    page.get_by_role("link", name="Labels in doubt").click()
    expect(page.locator(".lp-doubts > p").first).to_contain_text("2 labels in doubt")
    expect(page.locator(".lp-doubt h2")).to_have_text("There seems to be nothing here")
    expect(page.locator(".lp-doubt figure")).to_have_count(2)
    page.keyboard.press("a")
    expect(page.locator(".lp-doubt h2")).to_have_text("This label seems to lie badly")
    assert label.id not in labels(site, made)
    page.keyboard.press("z")
    expect(page.locator(".lp-doubt h2")).to_have_text("There seems to be nothing here")
    assert label.id in labels(site, made)
    page.keyboard.press("r")
    expect(page.locator(".lp-doubt h2")).to_have_text("This label seems to lie badly")
    page.get_by_role("button", name="Move the label").click()
    expect(page.locator(".empty h2")).to_have_text("All of these are looked at")
    assert dismissed(site, made) == 1
    page.reload()
    expect(page.get_by_role("heading", name="Labels in doubt")).to_be_visible()
    expect(page.locator(".lp-doubt")).to_have_count(0)
    with site.database.read() as session:
        assert inbox.count(session, made.project.id) == {}


def test_who_has_not_looked_for_doubts_is_told_what_they_are(page: Page, site: Site) -> None:
    made = boards.put(site, f"{NAME}, none", 3, labelled=2)
    page.goto(f"{site.url}/?project={made.project.id}&tab=review&view=doubts")
    page.get_by_role("button", name="Look for labels in doubt").click()
    expect(page.get_by_role("status").first).to_contain_text("waits in the queue")
    expect(page.get_by_role("button", name="Look anew")).to_be_disabled()
    with site.database.write.begin() as session:
        job = claims.claim(session, "test", Lane.LONG)
        assert job is not None
        raise_doubts(session, made, job.id)
        claims.finish(session, job, {})
    expect(page.locator(".lp-doubts > p").first).to_contain_text("2 labels in doubt")
    expect(page.locator(".lp-doubt h2")).to_have_text("There seems to be nothing here")


def test_where_pictures_are_classified_no_search_is_offered(page: Page, site: Site) -> None:
    name = f"{NAME}, classified"
    with site.database.write.begin() as session:
        catalogue.create(session, name, Task.CLASSIFY, ["good", "bad"])
    page.goto(f"{site.url}/?project={quote(name)}&tab=review&view=doubts")
    expect(page.locator(".lp-doubts > p").first).to_contain_text("no boxes to be in doubt")
    expect(page.locator(".lp-doubts button")).to_have_count(0)
