"""What a second stage saves, counted by either database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, State
from backend.labels import images, labelling
from backend.labels.images import NewImage
from backend.projects import catalogue, classes
from backend.review import filtering, provenance
from backend.review.filtering import Filtered
from backend.storage import findings
from backend.storage.engine import Database

RUN = 4
SPUR = Detection(10.0, 10.0, 30.0, 40.0, "spur", 0.3, 0)
NOISE = Detection(50.0, 50.0, 80.0, 80.0, "short", 0.1, 1)
STAGES = [[None, "spur", 0.2], [None, "short", 0.6]]
THERE = Box(10.0, 10.0, 30.0, 40.0, "spur")


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """Two boards with a defect of which the detector is less sure than of what is none."""
    with database.write.begin() as opened:
        project = catalogue.create(opened, "line").id
        for label in ("spur", "short"):
            classes.ensure(opened, project, label)
        images.add(opened, project, [NewImage(n, n * 64, 99, 99) for n in "ab"], "")
        ids = images.ids(opened, project, list("ab"))
        run = Run(RUN, "v2", "second_stage", datetime.now(UTC), project_id=project)
        findings.start(opened, run)
        facts = {findings.STAGES: STAGES}
        rows = [RunImage(ids[n], n, detections=(SPUR, NOISE), facts=facts) for n in "ab"]
        findings.record(opened, RUN, rows)
        for name in "ab":
            labelling.save(opened, ids[name], 0, [THERE], "ana", state=State.DONE)
        yield opened


def image(session: Session, name: str) -> int:
    project = findings.get(session, RUN).project_id
    assert project is not None
    return images.ids(session, project, [name])[name]


def test_false_calls_are_counted_by_the_detector_alone_and_by_both(session: Session) -> None:
    assert filtering.figures(session, RUN) == Filtered(0.01, 2, 2, first=1.0, both=0.0)


def test_nothing_is_said_where_more_escape_at_any_score(session: Session) -> None:
    missed = Box(1.0, 60.0, 9.0, 70.0, "spur")
    labelling.save(session, image(session, "a"), 1, [THERE, missed], "ana", state=State.DONE)
    assert filtering.figures(session, RUN) == Filtered(0.01, 2, 3, first=None, both=None)


def test_why_tells_what_either_stage_said(session: Session) -> None:
    said = {one.what: one.text for one in provenance.why(session, f"{RUN}:{image(session, 'a')}:1")}
    assert said["First stage"] == "short, score 0.600 by the detector alone"
    moved = "moved the score by -0.500, as it compared the place with the golden"
    assert said["Second stage"] == moved
