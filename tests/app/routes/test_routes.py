"""The routes that the JavaScript calls: what they answer, and what they refuse."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from PIL import Image

from app import server
from app.premises import Premises
from backend.jobs import kinds, queue
from backend.projects import catalogue
from backend.settings import Settings
from tests.app.conftest import HERE, WRITE, drawn


def test_a_window_of_images_carries_boxes_and_the_golden(
    client: TestClient, premises: Premises
) -> None:
    project = drawn(premises)
    found = client.get(f"/api/projects/{project.id}/images?limit=2").json()
    assert (found["total"], len(found["items"])) == (3, 2)
    first = found["items"][0]
    assert set(first["boxes"][0]) == {
        "id", "x1", "y1", "x2", "y2", "label", "class_id", "origin", "author", "detection",
    }  # fmt: skip
    assert len(first["golden"]["sha256"]) == 64


def test_a_project_is_found_by_its_name_too(client: TestClient, premises: Premises) -> None:
    project = drawn(premises)
    assert client.get(f"/api/projects/{project.name}").json()["id"] == project.id


def test_a_project_whose_name_is_a_number_is_found_by_its_name(
    client: TestClient, premises: Premises
) -> None:
    other = drawn(premises)
    with premises.write() as session:
        named = [catalogue.create(session, name) for name in (str(other.id), "4711", "9" * 30)]
    for one in named:
        assert client.get(f"/api/projects/{one.name}").json()["id"] == one.id
    assert client.get(f"/api/projects/{other.name}").json()["id"] == other.id
    assert client.get(f"/api/projects/{'8' * 30}").status_code == 404


def test_pictures_are_kept_for_ever_and_asked_once(client: TestClient, premises: Premises) -> None:
    sha256 = _first(client, premises)["sha256"]
    for kind, side in (("thumb", 320), ("preview", 640), ("full", 640)):
        answer = client.get(f"/files/{sha256}/{kind}")
        assert Image.open(io.BytesIO(answer.content)).size == (side, side)
        assert "immutable" in answer.headers["cache-control"]
        again = {"If-None-Match": answer.headers["etag"]}
        assert client.get(f"/files/{sha256}/{kind}", headers=again).status_code == 304


def test_tiles_cover_the_picture_exactly(client: TestClient, premises: Premises) -> None:
    sha256 = _first(client, premises)["sha256"]
    corner = client.get(f"/files/{sha256}/tile/0/1/1")
    assert Image.open(io.BytesIO(corner.content)).size == (128, 128)
    assert client.get(f"/files/{sha256}/tile/0/2/0").status_code == 404


STRANGE = (
    "/files/..%2f..%2fetc%2fpasswd/full",
    "/files/../../etc/passwd/full",
    f"/files/{'g' * 64}/thumb",
    f"/files/{'0' * 64}/thumb",
    "/assets/x/../../pyproject.toml",
    "/assets/x/..%2f..%2fpyproject.toml",
    "/assets/x//etc/passwd",
    "/api/projects/999999",
    "/api/projects/..%2f..%2f",
    "/api/projects/1/images?state=finished",
    "/api/projects/1/images?sort=name;drop",
    "/api/projects/1/images?limit=100000",
    "/api/projects/1/images?offset=-1",
    "/api/jobs/999",
    "/gradio_api/file=/etc/passwd",
)


@pytest.mark.parametrize("path", STRANGE)
def test_strange_addresses_are_refused_with_a_sentence(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert 400 <= answer.status_code < 500
    assert b"root:" not in answer.content
    assert answer.json()


def test_classes_are_renamed_reordered_and_merged(client: TestClient, premises: Premises) -> None:
    project = drawn(premises)
    base = f"/api/projects/{project.id}"
    first, second = (one["id"] for one in client.get(base).json()["classes"][:2])
    client.patch(f"{base}/classes/{first}", json={"name": "gap"}, headers=WRITE)
    merged = client.post(f"{base}/classes/{second}/merge", json={"into": first}, headers=WRITE)
    names = [one["name"] for one in merged.json()["classes"]]
    assert (names[0], "short" in names) == ("gap", False)
    wanted = [one["id"] for one in reversed(merged.json()["classes"])]
    order = client.put(f"{base}/classes", json={"classes": wanted}, headers=WRITE).json()
    assert [one["id"] for one in order["classes"]] == wanted


def test_a_class_of_another_project_is_not_touched(client: TestClient, premises: Premises) -> None:
    project = drawn(premises)
    other = drawn(premises)
    url = f"/api/projects/{other.id}/classes/{project.classes[0].id}"
    assert client.patch(url, json={"name": "mine"}, headers=WRITE).status_code == 404


def test_images_of_another_project_are_not_changed(client: TestClient, premises: Premises) -> None:
    item = _first(client, premises)
    other = drawn(premises)
    body = {"action": "delete", "images": [item["id"]]}
    answer = client.post(f"/api/projects/{other.id}/images/change", json=body, headers=WRITE)
    assert answer.status_code == 404


def test_what_nobody_expected_is_logged_and_hidden(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise ArithmeticError("the secret of the premises")

    premises = server.open_premises(Settings(home=tmp_path))
    app = server.create(premises)
    app.router.routes.insert(0, APIRoute("/api/broken", broken))
    answer = TestClient(app, base_url=HERE).get("/api/broken")
    premises.database.close()
    assert (answer.status_code, "log" in answer.json()["error"]) == (500, True)
    assert "secret" not in answer.json()["error"]
    assert any(record.exc_info for record in caplog.records)


def _first(client: TestClient, premises: Premises) -> dict[str, str]:
    project = drawn(premises)
    found: dict[str, str] = client.get(f"/api/projects/{project.id}/images").json()["items"][0]
    return found


def test_the_page_names_what_its_tab_needs_and_all_of_it_is_there(client: TestClient) -> None:
    link = client.get("/?project=1&tab=annotate").headers["link"]
    urls = re.findall(r"<([^>]+)>; rel=(?:module)?preload", link)
    assert {Path(url).name for url in urls} >= {"header.js", "view.js", "annotate.css"}
    assert {client.get(url).status_code for url in urls} == {200}
    asked = re.findall(r'from "(\.[^"]+)"', "".join(client.get(url).text for url in urls))
    assert {Path(one).name for one in asked} <= {Path(url).name for url in urls}


def test_a_project_opens_at_its_overview(client: TestClient) -> None:
    assert "/pages/overview/overview.js" in client.get("/?project=1").headers["link"]
    assert "/pages/overview/" not in client.get("/").headers["link"]


def test_jobs_are_filtered(client: TestClient, premises: Premises) -> None:
    project = drawn(premises)
    with premises.write() as session:
        job = queue.enqueue(session, kinds.Publish(project.id, 0), author="zoe")
    chosen = f"project={project.id}&kind=publish&author=zoe&state="
    shown = client.get(f"/api/jobs?{chosen}queued").json()
    assert [one["id"] for one in shown["open"]] == [job.id]
    assert (shown["done"], "zoe" in shown["authors"]) == ([], True)
    assert shown["kinds"]["publish"] == "Export of a model"
    assert shown["projects"] == {str(project.id): project.name}
    assert client.get(f"/api/jobs?{chosen}failed").json()["open"] == []
    assert client.get("/api/jobs?state=odd").status_code == 422
    with premises.write() as session:
        queue.cancel(session, job.id)


@pytest.mark.parametrize("to", ["training", "training/check"])
def test_a_training_from_a_page_starts_from_no_file_of_the_server(
    client: TestClient, premises: Premises, tmp_path: Path, to: str
) -> None:
    theirs = tmp_path / "theirs.pt"
    theirs.write_bytes(b"weights")
    url = f"/api/projects/{drawn(premises, 12).id}/{to}"
    for start in (str(theirs), "../theirs.pt", "theirs.safetensors"):
        body = {"family": "yolo", "start": start}
        answer = client.post(url, json=body, headers=WRITE)
        assert answer.status_code == 400
        assert "not a model of this project" in answer.json()["error"]
    beside = {"family": "yolo", "parameters": {"extra": {"pretrained": str(theirs)}}}
    assert client.post(url, json=beside, headers=WRITE).status_code == 422
