"""What pages ask again and again asks as little of a large project as of a small one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from app import server
from app.premises import Premises
from backend.domain import Box, Detection, Run, RunImage
from backend.errors import Invalid
from backend.jobs import holder, kinds, presence, queue
from backend.labels import bulk, images
from backend.labels.images import NewImage
from backend.models import snapshots
from backend.models.scaling import scaling_plan, scalings
from backend.models.scaling.scaling_plan import Plan
from backend.projects import catalogue, changes
from backend.review.overview import keeping
from backend.runs import detection
from backend.settings import Settings
from backend.storage import findings
from backend.storage.tables import JobRow, SearchRow, TrialRow
from backend.storage.types import now
from tests.app.conftest import HERE
from tests.statements import heard

ASSETS = Path(__file__).parents[3] / "assets"
FEW, MANY = 60, 600
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
MARKS = {one.name for one in fields(changes.Marks)}
BOXES = tuple(Box(n, 0.0, n + 1.0, 9.0, "spur") for n in range(5))
CALL = re.compile(r"\n  poll\(\"\w+\", [\d.]+, \[([^\]]*)\]")
DIGITS = 120  # bytes by which larger numbers may be longer

# Every route that the assets poll, and follow while they poll.
EVERYWHERE = ("/api/changes", "/api/jobs/counts", "/api/jobs/cluster", "/api/warehouse")
POLLED = (
    "/api/jobs?project={name}",
    "/api/jobs/{job}",
    "/api/jobs/{job}/events?since=0",
    "/api/projects/{name}/training",
    "/api/projects/{name}/searches",
    "/api/projects/{name}/detect/now",
    "/api/projects/{name}/models",
    "/api/projects/{name}/overview",
    "/api/projects/{name}/benchmarks",
    "/api/projects/{name}/runs",
    "/api/jobs/use",
)
POLLING = {
    "detect.js": ("jobs",),
    "jobs.js": ("jobs",),
    "models.js": ("models", "jobs"),
    "overview.js": ("labels", "jobs", "models"),
    "projects.js": ("projects", "labels"),
    "review.js": ("jobs", "labels"),
    "train.js": ("jobs", "models"),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    """A project of sixty images and one of six hundred, each with all that is polled."""
    premises = server.open_premises(Settings(home=tmp_path_factory.mktemp("polled")))
    for name, count in (("few", FEW), ("many", MANY)):
        _fill(premises, name, count)
    yield premises
    premises.database.close()


@pytest.fixture(scope="module")
def asking(filled: Premises) -> Iterator[TestClient]:
    with TestClient(server.create(filled), base_url=HERE) as client:
        yield client


def _fill(premises: Premises, name: str, count: int) -> None:
    new = [NewImage(f"{n:04}", f"{n:064}", 99, 99, BOXES, labelled=True) for n in range(count)]
    seen = Detection(1.0, 1.0, 9.0, 9.0, "spur", 0.9, 0)
    with premises.write() as session:
        project = catalogue.create(session, name).id
        images.add(session, project, new, "ann")
        ids = sorted(images.ids(session, project, [one.name for one in new]).values())
        job = detection.ask(session, project, "golden", source={"images": ids}, author="ann")
        at = datetime(2026, 1, 1, tzinfo=UTC)
        run = Run(job.id, "v1", "yolo", at, project_id=project, source=job.request["source"])
        findings.start(session, run)
        findings.record(session, run.id, [RunImage(id_, "a", detections=(seen,)) for id_ in ids])
        findings.finish(session, run.id, 1.0, {})
    assert keeping.refresh(premises.read, premises.write, [run.id]) == 0


def _asked(premises: Premises, client: TestClient, route: str, name: str) -> tuple[int, int]:
    with premises.read() as session:
        project = catalogue.find(session, name).id
        job = findings.runs(session, project)[0].id
    with heard(premises.database) as statements:
        answer = client.get(route.format(name=name, job=job))
    assert answer.status_code == 200
    return len(statements), len(answer.content)


@pytest.mark.parametrize("route", POLLED)
def test_ten_times_the_images_cost_no_query_and_no_byte(
    filled: Premises, asking: TestClient, route: str
) -> None:
    few, few_bytes = _asked(filled, asking, route, "few")
    many, many_bytes = _asked(filled, asking, route, "many")
    assert many == few
    assert many_bytes <= few_bytes + DIGITS


@pytest.mark.parametrize("route", EVERYWHERE)
def test_what_every_page_asks_is_less_than_a_kilobyte(
    filled: Premises, asking: TestClient, route: str
) -> None:
    statements, size = _asked(filled, asking, route, "many")
    assert statements <= 6
    assert size < 1000


def test_a_finished_run_is_counted_no_more(filled: Premises, asking: TestClient) -> None:
    with filled.read() as session:
        project = catalogue.find(session, "many").id
    with heard(filled.database) as statements:
        shown = asking.get(f"/api/projects/{project}/runs").json()
    assert (shown[0]["images"], shown[0]["classes"]) == (MANY, {"spur": MANY})
    assert not [one for one in statements if "FROM detection" in one or "FROM run_image" in one]


@pytest.mark.parametrize("what", ["", "/curves?trials=0&trials=1&trials=2", "/insight"])
def test_ten_times_the_trials_are_no_longer_answer(
    filled: Premises, asking: TestClient, what: str
) -> None:
    found = [_searched(filled, count) for count in (30, 300)]
    answers = []
    for number in found:
        with heard(filled.database) as statements:
            answer = asking.get(f"/api/searches/{number}{what}")
        assert answer.status_code == 200
        answers.append((len(statements), len(answer.content)))
    assert answers[1][0] == answers[0][0]
    assert max(size for _, size in answers) < 9000


def test_the_use_of_the_last_day_is_summed_by_kind_and_person(
    filled: Premises, asking: TestClient
) -> None:
    with filled.write() as session:
        project = catalogue.create(session, "used").id
        for author, at in (("ann", now()), ("bob", now()), ("ann", now()), ("cay", LONG_AGO)):
            job = queue.enqueue(session, kinds.Check(project), author=author)
            ended = {"state": "done", "started": at, "finished": at}
            session.execute(update(JobRow).filter_by(id=job.id).values(**ended))
    found = asking.get("/api/jobs/use").json()
    by = {one["author"]: one["jobs"] for one in found if one["title"] == "Check of the worker"}
    assert (by["ann"], by["bob"], "cay" in by) == (2, 1, False)


def test_the_use_of_the_last_day_reads_no_jobs_of_long_ago(
    filled: Premises, asking: TestClient
) -> None:
    with heard(filled.database) as statements:
        asking.get("/api/jobs/use")
    (asked,) = [one for one in statements if "job.finished" in one]
    with filled.read() as session:
        nothing = (None,) * asked.count("?")
        found = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {asked}", nothing).all()
    plan = str(found)
    assert "job_by_end" in plan
    assert "SCAN job" not in plan


def test_a_cluster_tells_who_asked_for_what_it_carries_and_what_it_costs(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, node_prices="large=1.2,node=0.3")
    premises = server.open_premises(settings)
    free = {"cores": 1.0, "gpus": 0.0, "memory_gb": 1.0}
    with premises.write() as session:
        job = queue.enqueue(session, kinds.Check(catalogue.create(session, "b").id), author="ann")
        node = {"name": "left", "free": free, "jobs": {str(job.id): 2}, "others": 0, **free}
        sees = {"state": "ready", "temp_mb": 7.0, "jobs": [job.id], "nodes": [
            {**node, "kind": "large"}, {**node, "kind": ""},
        ]}  # fmt: skip
        presence.show(session, holder.me(), cast("presence.Sight", sees))
    with TestClient(server.create(premises), base_url=HERE) as client:
        told = client.get("/api/jobs/cluster").json()
    assert told["jobs"][str(job.id)] == {
        "title": "Check of the worker",
        "author": "ann",
        "since": None,
    }
    assert told["costs"] == {holder.me(): 1.5}
    premises.database.close()
    with pytest.raises(Invalid, match="NODE=NUMBER"):
        Settings(home=tmp_path, node_prices="dear")


def test_many_cluster_benchmarks_cost_the_queries_of_one(
    filled: Premises, asking: TestClient
) -> None:
    with filled.write() as session:
        project = catalogue.create(session, "measured").id
    asked = []
    for _ in range(3):
        with filled.write() as session:
            plan = scaling_plan.kept(Plan((1, 2)))
            job = queue.enqueue(
                session, kinds.Scale(project, 1, "yolo", parameters={"epochs": 3}, plan=plan)
            )
            turn = next(Plan((1, 2)).turns)
            scalings.keep(session, job.id, turn, {"rate": 9.0, "startup": 1.0, "images": 64})
            queue.cancel(session, job.id)
        with heard(filled.database) as statements:
            found = asking.get("/api/projects/measured/benchmarks").json()
        asked.append((len(found), len(statements)))
    # The first also learns what is the project's.
    assert [found for found, _ in asked] == [1, 2, 3]
    assert asked[0][1] >= asked[1][1] == asked[2][1]


def _searched(premises: Premises, count: int) -> int:
    """A search of so many trials that become better and better, a few still under way."""
    with premises.write() as session:
        project = catalogue.find(session, "few").id
        snapshot = snapshots.freeze(session, project, 1, "ann")
        row = SearchRow(
            project_id=project,
            snapshot_id=snapshot.id,
            family="yolo",
            space="lr=1e-4..1e-2,batch=4|8",
            seed=1,
            trials=999,
        )
        session.add(row)
        session.flush()
        for number in range(count):
            curve = [{"epoch": each, "map50": number / 999} for each in range(1, 201)]
            done = number < count - 20
            session.add(
                TrialRow(
                    search_id=row.id,
                    number=number,
                    parameters={"learning_rate": 1e-4 + number / 7e6, "batch": 8},
                    epochs=curve,
                    state="done" if done else "running",
                    value=number / 999 if done else None,
                )
            )
        return row.id


def test_forty_waiting_jobs_cost_the_queries_of_four(filled: Premises, asking: TestClient) -> None:
    few = _waiting(filled, asking, 4)
    assert _waiting(filled, asking, 36) == few


def _waiting(premises: Premises, client: TestClient, more: int) -> int:
    with premises.write() as session:
        project = catalogue.find(session, "few").id
        for _ in range(more):
            queue.enqueue(session, kinds.Check(project), author="ann")
    return _asked(premises, client, "/api/jobs", "few")[0]


def test_each_page_that_polls_stands_in_this_table() -> None:
    found = {}
    for path in sorted(ASSETS.rglob("*.js")):
        for marks in CALL.findall(path.read_text("utf-8")):
            found[path.name] = tuple(re.findall(r"\w+", marks))
    assert found == POLLING
    assert {mark for marks in found.values() for mark in marks} == MARKS


@pytest.mark.parametrize("what", ["label", "job", "project"])
def test_a_change_moves_its_mark_and_leaves_the_others(filled: Premises, what: str) -> None:
    with filled.read() as session:
        before = changes.marks(session)
        project = catalogue.find(session, "few").id
        ids = sorted(images.ids(session, project, ["0000", "0001"]).values())
    if what == "label":
        bulk.change(filled.write, project, bulk.Change("state", "skipped"), ids, "ben")
    with filled.write() as session:
        if what == "job":
            queue.enqueue(session, kinds.Check(project), author="ann")
        if what == "project":
            catalogue.create(session, "young")
    with filled.read() as session:
        after = changes.marks(session)
    assert [name for name in MARKS if getattr(after, name) != getattr(before, name)] == [f"{what}s"]
