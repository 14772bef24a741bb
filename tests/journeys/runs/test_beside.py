"""Several trainings in one plot on Train."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy.orm import Session

from backend.jobs import claims, journal
from backend.jobs.lanes import Lane
from backend.models import trainings
from tests.journeys.conftest import Site

pytestmark = pytest.mark.slow


def told(session: Session, job: int, *epochs: int) -> None:
    for epoch in epochs:
        data = {"epoch": epoch, "epochs": 9, "map50": 0.1 * epoch, "loss": 1 / epoch}
        journal.write(session, job, f"Epoch {epoch} of 9", data=data)


def trained(site: Site, project: int, epochs: int) -> int:
    """A training that has told of so many epochs, by its job."""
    with site.database.write.begin() as session:
        trainings.retrain(session, project, "golden")
        job = claims.claim(session, "test", Lane.LONG)
        assert job is not None
        told(session, job.id, *range(1, epochs + 1))
        claims.fail(session, job, "No room.")
    return job.id


def test_curves_of_two_trainings_lie_over_each_other(desk: Page, idle: Site) -> None:
    project = idle.project(images=12)
    first = trained(idle, project.id, 3)
    trained(idle, project.id, 5)
    desk.goto(f"/?project={project.id}&tab=train")
    desk.get_by_text("Trainings in one plot").click()
    panel = desk.get_by_role("region", name="Trainings in one plot")
    for name in ("v1 golden", "v2 golden"):
        panel.get_by_label(name).check()
    expect(panel.get_by_text("v1, 3 epochs")).to_be_visible()
    expect(panel.get_by_text("v2, 5 epochs")).to_be_visible()
    for name in ("mAP@.5", "Loss"):
        drawn = panel.get_by_role("group", name=f"{name}. ")
        expect(drawn.locator("polyline")).to_have_count(2)
    with idle.database.write.begin() as session:
        told(session, first, 4)
    expect(panel.get_by_text("v1, 4 epochs")).to_be_visible()
    panel.get_by_label("v2 golden").uncheck()
    expect(panel.get_by_role("group", name="Loss. ").locator("polyline")).to_have_count(1)
