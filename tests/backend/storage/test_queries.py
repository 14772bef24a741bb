"""The SQL that the guide shows runs as it stands, on both databases, and answers what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, JobState, Run, RunImage, State, Verdict
from backend.jobs import kinds, queue
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.models import measurements, snapshots
from backend.projects import catalogue, classes
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet
from backend.storage import findings
from backend.storage.classes.figures import MARK
from backend.storage.engine import Database
from backend.storage.tables import JobRow, MetricRow, ModelRow
from tests.guide import paper

QUERIES = re.findall(r"```sql\n(.*?)```", paper.page("results-in-sql"), flags=re.DOTALL)
RUN = 12
SPUR = Detection(10.0, 10.0, 30.0, 40.0, "spur", 0.9, 0)
SHORT = Detection(50.0, 50.0, 80.0, 80.0, "short", 0.7, 1)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """Two boards of two lots: on a, one accepted, one refused, one missed; b passes at last."""
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line")
        for label in ("spur", "short"):
            classes.ensure(opened, project.id, label)
        new = [NewImage(n, n * 64, 99, 99, group=f"lot {n}") for n in "ab"]
        images.add(opened, project.id, new, "")
        ids = images.ids(opened, project.id, ["a", "b"])
        findings.start(opened, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        seen = {"a": (SPUR, SHORT), "b": (SPUR,)}
        rows = [RunImage(ids[n], n, detections=seen[n]) for n in seen]
        findings.record(opened, RUN, rows)
        missed = Box(1.0, 60.0, 9.0, 70.0, "spur")
        _say(opened, ids["a"], missed, accepted=(0,), rejected=(1,), verdict=Verdict.FAIL)
        _say(opened, ids["b"], rejected=(0,), verdict=Verdict.FAIL)
        _say(opened, ids["b"], rejected=(), accepted=(0,), verdict=Verdict.PASS)
        frozen = snapshots.freeze(opened, project.id, 0, "ana")
        opened.add(
            ModelRow(
                project_id=project.id, number=2, family="yolo", classes=[], snapshot_id=frozen.id
            )
        )
        opened.flush()
        _measure(opened, project.id)
        yield opened


def _measure(session: Session, project: int) -> None:
    """The model twice, with a class renamed in between; an attempt is repeated."""
    model = session.scalars(select(ModelRow.id)).one()
    for ap50, name in ((0.5, "spur of copper"), (0.75, "spur")):
        job = queue.enqueue(session, kinds.Evaluate(project, model))
        session.get_one(JobRow, job.id).state = JobState.DONE
        first = classes.of(session, project)[0].id
        figures = {"map50": ap50, "split": "test", "per_class": {f"{MARK}{first}": {"ap50": ap50}}}
        for value in (figures, {**figures, "map50": None}, figures):
            measurements.keep(session, job.id, model, value)
        classes.edit(session, first, name=name)


def _say(session: Session, image: int, *boxes: Box, **said: Any) -> None:
    version = labelling.version_of(session, image)
    sheet = Sheet(version, boxes, state=State.DONE, run_id=RUN, review=True, **said)
    decisions.save(session, image, sheet, "ana")


def test_the_six_queries_of_the_readme_answer_what_they_say(session: Session) -> None:
    answers = [[tuple(row) for row in session.execute(text(query))] for query in QUERIES]
    found, judged, lots, missed, models, figures = answers
    assert [(label, number) for label, number, _ in found] == [("spur", 2), ("short", 1)]
    assert judged == [("short", 1, 1), ("spur", 2, 0)]
    assert lots == [("lot a", 1, 1), ("lot b", 1, 0)]
    assert missed == [("ana", 1)]
    assert models == [(2, 2)]
    assert figures == [(2, "spur", 0.75)]


def test_a_measurement_keeps_the_figures_of_its_last_attempt_alone(session: Session) -> None:
    rows = session.execute(select(MetricRow.name, MetricRow.value).order_by(MetricRow.job_id))
    assert sorted(rows.tuples()) == [("ap50", 0.5), ("ap50", 0.75), ("map50", 0.5), ("map50", 0.75)]
