"""Values that make no sense are refused with a sentence that says which, and what would do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.premises import Premises
from backend.domain import Project
from backend.models import preflight
from tests.app.conftest import WRITE, drawn, log_in
from workers.families.base import Parameters


@pytest.fixture(scope="module")
def project(guarded: Premises) -> Project:
    return drawn(guarded)


@pytest.fixture
def lars(stranger: TestClient) -> TestClient:
    log_in(stranger, "lars")
    return stranger


ODD: list[tuple[str, str, Any, str]] = [
    ("GET", "/api/jobs/abc", None, "job: it must be a whole number"),
    ("GET", "/api/nothing/here", None, "nothing at this address"),
    ("GET", "/api/projects/{id}/detect/expect/v²", None, "'v²' is no model"),
    ("GET", "/api/projects/{id}/detect/expect/v" + "9" * 5000, None, "is no model"),
    ("POST", "/api/projects/{id}/detect", {"model": "v²"}, "'v²' is no model"),
    ("POST", "/api/projects/{id}/detect", {"model": 1}, "model: it must be a text"),
    ("POST", "/api/projects/{id}/detect", [], "its body: it must be an object"),
    ("POST", "/api/projects/{id}/detect", {"model": "golden", "x": 1}, "x: there is no such field"),
    ("PUT", "/api/projects/{id}/review-rule", {"threshold": 2}, "at most 1"),
    ("PUT", "/api/projects/{id}/uploads/{token}/" + "é" * 150, b"", "not a name that a file may"),
    ("PUT", "/api/projects/{id}/uploads/abc/a.png", b"", "32 hexadecimal digits"),
    ("PATCH", "/api/me", None, "nothing at this address"),
]


@pytest.mark.parametrize(("method", "path", "body", "said"), ODD)
def test_an_odd_value_is_named(
    lars: TestClient, project: Project, method: str, path: str, body: Any, said: str
) -> None:
    url = path.replace("{id}", str(project.id)).replace("{token}", "0" * 32)
    sent = {"content": body} if isinstance(body, bytes) else {"json": body}
    answer = lars.request(method, url, headers=WRITE, **sent)
    assert 400 <= answer.status_code < 500
    assert said in answer.json()["error"]


def test_a_name_that_was_sent_is_not_repeated_at_any_length(lars: TestClient) -> None:
    said = lars.get(f"/api/projects/{'a' * 3000}/runs").json()["error"]
    assert said.startswith("There is no project named 'aaa")
    assert len(said) < 1100


@pytest.mark.parametrize("body", [b'{"x', b"\xff\xfe", b"[" * 100_000, b'{"model": "\\ud800"}'])
def test_a_body_that_cannot_be_read_is_refused(
    lars: TestClient, project: Project, body: bytes
) -> None:
    headers = {**WRITE, "content-type": "application/json"}
    answer = lars.post(f"/api/projects/{project.id}/detect", content=body, headers=headers)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"].endswith(".")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"epochs": "x"}, "epochs must be from 1 to 10000, not 'x'"),
        ({"epoch": 3}, "There is no parameter 'epoch'; there are epochs, image_size"),
        ({"learning_rate": float("nan")}, "learning_rate must be from 0 to 10, not nan"),
        ({"image_size": 1e300}, "image_size must be from 32 to 4096"),
    ],
)
def test_a_parameter_that_cannot_be_is_named_before_anything_is_made(
    lars: TestClient, project: Project, parameters: dict[str, Any], said: str
) -> None:
    body = json.dumps({"family": "yolo", "parameters": parameters})
    headers = {**WRITE, "content-type": "application/json"}
    url = f"/api/projects/{project.id}/training"
    told = lars.post(f"{url}/check", content=body, headers=headers).json()
    assert any(said in problem for problem in told["problems"]), told
    answer = lars.post(url, content=body, headers=headers)
    assert (answer.status_code, said in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"knobs": {"mosiac": 0.5}}, "yolo has no parameter 'mosiac' to set"),
        ({"knobs": {"freeze": 2.5}}, "The form says '2.5' of freeze, which is no whole number."),
        ({"knobs": {"mosaic": 2}}, "The parameter mosaic must be from 0 to 1, not 2"),
        ({"parameters": {"extra": "mosaic"}}, "There is no parameter 'extra'"),
        ({"parameters": {"start": "v1"}}, "There is no parameter 'start'"),
    ],
)
def test_a_knob_that_a_family_has_not_is_refused_in_a_sentence(
    lars: TestClient, project: Project, given: dict[str, Any], said: str
) -> None:
    for path in ("training/check", "training/glimpse", "training", "searches"):
        body = {"family": "yolo", **given}
        answer = lars.post(f"/api/projects/{project.id}/{path}", json=body, headers=WRITE)
        assert (answer.status_code, said in answer.json()["error"]) == (400, True), answer.text


def test_all_parameters_that_a_training_takes_are_known() -> None:
    known = {*preflight.BOUNDS, *preflight.OTHERS}
    of_benchmarks = {"nodes", "cores"}  # where the processes stand; nobody trains so
    assert {*Parameters.__dataclass_fields__} == known - {"start"} | of_benchmarks


def test_a_file_in_the_place_of_a_folder_of_an_upload_is_refused(
    lars: TestClient, project: Project
) -> None:
    url = f"/api/projects/{project.id}/uploads/{'1' * 32}"
    assert lars.put(f"{url}/a", content=b"x", headers=WRITE).status_code == 201
    answer = lars.put(f"{url}/a/b.png", content=b"x", headers=WRITE)
    assert (answer.status_code, "a file and a folder" in answer.json()["error"]) == (400, True)
