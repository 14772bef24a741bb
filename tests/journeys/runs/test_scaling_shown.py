"""What Models shows of a cluster benchmark, as far as it has come."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from backend.jobs import queue
from backend.models import trainings
from backend.models.scaling import scaling_plan, scalings
from backend.models.scaling.scaling_plan import Plan, Turn
from tests.journeys.conftest import Site

pytestmark = pytest.mark.slow
WORTH = {"figure": "map50", "value": 0.5, "interval": [0.4, 0.6]}
EQUAL = {"difference": 0.0, "difference_interval": [-0.1, 0.1], "equal": True}
ABOUT = {"about": {"code": "0.1"}, "placed": [["made-up"]]}


def figures(turn: Turn) -> dict[str, object]:
    """Two processes are half as fast again as one, and learn the same."""
    rate = 10.0 if turn.configuration.processes == 1 else 15.0
    beside = EQUAL if turn.number else {}
    return {"startup": 4.0, "rate": rate, "loss": 0.2, "worth": WORTH | beside, **ABOUT}


def test_what_more_processes_bring_stands_under_models(desk: Page, idle: Site) -> None:
    project = idle.project(images=12)
    with idle.database.write.begin() as session:
        plan = Plan((1, 2, 4), repeats=1, prices={"node": 3.6})
        job = scalings.ask(session, project.id, "yolo", plan, parameters={"batch": 4}, seed=1)
        first, second, third = scaling_plan.read(job.request["plan"]).turns
        scalings.keep(session, job.id, first, figures(first))
        scalings.keep(session, job.id, second, figures(second))
        scalings.keep(session, job.id, third, {}, "The cluster has room for 2 processes.")
    desk.goto(f"/?project={project.id}&tab=models")
    table = desk.get_by_role("region", name="Cluster benchmarks")
    row = table.get_by_role("row").filter(has_text="train, 2 processes on 1 node")
    for said in ("15.0", "1.50 ×", "75 %", "map50 0.500, equal", "0.0667"):
        expect(row).to_contain_text(said)
    expect(table.get_by_role("row").last).to_contain_text("room for 2 processes")
    expect(table.get_by_role("group", name="Speed-up over processes")).to_be_visible()
    with idle.database.write.begin() as session:
        queue.cancel(session, job.id)
        scalings.ask(session, project.id, "yolo", plan, parameters={"batch": 4}, seed=1)
    desk.reload()  # the newest stands open, and others wait to be asked for
    expect(table.get_by_text("Not measured yet").first).to_be_visible()
    expect(table.get_by_text("1.50 ×")).to_have_count(0)
    table.get_by_text(f"Job {job.id}").click()
    expect(table.get_by_text("1.50 ×")).to_be_visible()
    none_yet = desk.get_by_text("Train the first one")
    expect(none_yet).to_be_visible()
    with idle.database.write.begin() as session:
        trainings.retrain(session, project.id, "yolo", seed=1)
    expect(none_yet).to_be_hidden()
    expect(table).to_be_visible()
