"""A sweep of the wall is answered image by image, and counts once however often it is sent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.premises import Premises
from backend.domain import Detection, Run, RunImage
from backend.labels import gallery, images, labelling
from backend.storage import findings
from tests.app.conftest import WRITE, drawn

RUN = 771


@pytest.fixture(scope="module")
def ids(premises: Premises) -> list[int]:
    """Images of a run that has found two defects in each."""
    project = drawn(premises, 4)
    with premises.write() as session:
        found = gallery.ids(session, project.id, gallery.Filter())
        start = Run(RUN, "v1", "yolo", datetime.now(UTC), project_id=project.id)
        findings.start(session, start)
        defects = tuple(Detection(9.0, 9.0, 20.0, 20.0 + n, "open", 0.5, n) for n in range(2))
        findings.record(
            session, RUN, [RunImage(one, str(one), detections=defects) for one in found]
        )
    return found


def sweep(client: TestClient, images_: list[int], key: str = "", verdict: str = "accept") -> Any:
    items = [{"image": one, "idx": 0, "verdict": verdict} for one in images_]
    body = {"items": items, "key": key}
    answer = client.post(f"/api/runs/{RUN}/decide", json=body, headers=WRITE)
    return answer.json()["answers"] if answer.is_success else answer.status_code


def versions(premises: Premises, ids: list[int]) -> list[int]:
    with premises.write() as session:
        return [labelling.version_of(session, one) for one in ids]


def test_one_image_that_fails_holds_up_no_other(
    client: TestClient, premises: Premises, ids: list[int]
) -> None:
    with premises.write() as session:
        images.put_away(session, ids[3:])
    good, missing, away = sweep(client, [ids[0], 999_999, ids[3]])
    saved = versions(premises, ids[:1])[0]
    assert good == {"image": ids[0], "version": saved, "error": None}
    assert "deleted" in missing["error"]
    assert "deleted" in away["error"]


def test_a_part_sent_again_is_answered_and_changes_nothing(
    client: TestClient, premises: Premises, ids: list[int]
) -> None:
    first = sweep(client, ids[1:3], "part")
    sweep(client, ids[1:2], verdict="")
    before = versions(premises, ids[:3])
    assert sweep(client, ids[1:3], "part") == first
    assert versions(premises, ids[:3]) == before


def test_a_save_whose_answer_was_lost_may_be_sent_again(
    client: TestClient, premises: Premises, ids: list[int]
) -> None:
    body = {"version": versions(premises, ids[:1])[0], "boxes": [], "key": "save"}
    path = f"/api/images/{ids[0]}/boxes"
    first = client.put(path, json=body, headers=WRITE)
    assert client.put(path, json=body, headers=WRITE).json() == first.json()
    late = client.put(path, json=body | {"key": "other"}, headers=WRITE)
    assert (late.status_code, late.json()["theirs"]["key"]) == (409, "save")
