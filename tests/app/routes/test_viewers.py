"""Who only looks goes through all of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.premises import Premises
from backend.domain import Detection, Run, RunImage, Verdict
from backend.labels import images
from backend.labels.images import NewImage
from backend.projects import catalogue
from backend.review.deciding import decisions
from backend.storage import findings
from tests.app.conftest import WRITE, log_in

RUN = 72_001
MANY = 230


@pytest.fixture(scope="module")
def by_score(guarded: Premises) -> list[int]:
    """The images of a run by their scores, highest first; of one it was already decided."""
    names = [f"board {n}" for n in range(MANY)]
    with guarded.write() as session:
        project = catalogue.create(session, "a long run")
        images.add(session, project.id, [NewImage(n, "0" * 64, 99, 99) for n in names], "ana")
        ids = images.ids(session, project.id, names)
        findings.start(session, Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id))
        seen = [
            RunImage(ids[name], name, detections=(Detection(9.0, 9.0, 20.0, 20.0, "spur", 1 / at),))
            for at, name in enumerate(names, 1)
        ]
        findings.record(session, RUN, seen)
        sheet = decisions.Sheet(0, (), run_id=RUN, review=True, verdict=Verdict.PASS)
        decisions.save(session, ids[names[0]], sheet, "ana")
    return [ids[name] for name in names]


def test_a_viewer_sees_every_image_of_a_long_run_once(
    stranger: TestClient, by_score: list[int]
) -> None:
    log_in(stranger, "vera")
    seen: list[int] = []
    while True:
        answer = _look(stranger, after=seen[-1] if seen else 0, count=50)
        assert (answer["total"], answer["open"]) == (MANY, MANY - 1)
        if not answer["items"]:
            break
        seen += [item["id"] for item in answer["items"]]
    assert seen == by_score


def test_a_viewer_begins_with_the_image_that_was_asked_for(
    stranger: TestClient, by_score: list[int]
) -> None:
    log_in(stranger, "vera")
    answer = _look(stranger, wanted=by_score[210], count=3)
    assert [item["id"] for item in answer["items"]] == [by_score[210], *by_score[:2]]


def _look(client: TestClient, **how: int) -> Any:
    body = {"holder": "tab", **how}
    return client.post(f"/api/runs/{RUN}/take?sort=score", json=body, headers=WRITE).json()
