"""The SQL that the README shows runs as it stands, on both databases, and answers what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.domain import Box, Detection, Run, RunImage, State, Verdict
from backend.services import deciding, images, labelling, projects, snapshots
from backend.services.deciding import Sheet
from backend.services.images import NewImage
from backend.storage import warehouse
from backend.storage.engine import Database
from backend.storage.tables import ModelRow

README = Path(__file__).parents[2] / "README.md"
QUERIES = re.findall(r"```sql\n(.*?)```", README.read_text("utf-8"), flags=re.DOTALL)
RUN = 12
SPUR = Detection(10.0, 10.0, 30.0, 40.0, "spur", 0.9, 0)
SHORT = Detection(50.0, 50.0, 80.0, 80.0, "short", 0.7, 1)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """Two boards of two lots: on a, one accepted, one refused, one missed; b passes at last."""
    with database.write.begin() as opened:
        project = projects.create(opened, "line")
        for label in ("spur", "short"):
            projects.ensure_class(opened, project.id, label)
        new = [NewImage(n, n * 64, 99, 99, group=f"lot {n}") for n in "ab"]
        images.add(opened, project.id, new, "")
        ids = images.ids(opened, project.id, ["a", "b"])
        warehouse.start(opened, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        seen = {"a": (SPUR, SHORT), "b": (SPUR,)}
        rows = [RunImage(ids[n], n, detections=seen[n]) for n in seen]
        warehouse.record(opened, RUN, rows)
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
        yield opened


def _say(session: Session, image: int, *boxes: Box, **said: Any) -> None:
    version = labelling.version_of(session, image)
    sheet = Sheet(version, boxes, state=State.DONE, run_id=RUN, review=True, **said)
    deciding.save(session, image, sheet, "ana")


def test_the_five_queries_of_the_readme_answer_what_they_say(session: Session) -> None:
    answers = [[tuple(row) for row in session.execute(text(query))] for query in QUERIES]
    found, judged, lots, missed, models = answers
    assert [(label, number) for label, number, _ in found] == [("spur", 2), ("short", 1)]
    assert judged == [("short", 1, 1), ("spur", 2, 0)]
    assert lots == [("lot a", 1, 1), ("lot b", 1, 0)]
    assert missed == [("ana", 1)]
    assert models == [(2, 2)]
