"""Pictures in by upload, and a zip out, as the page asks for them."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app import server
from app.premises import Premises
from backend.domain import Job
from backend.errors import Refused
from backend.jobs import claims, kinds, queue
from backend.jobs.lanes import Lane
from backend.labels import gallery
from backend.settings import Settings
from backend.storage.uploads import Uploads
from tests.app.conftest import HERE, WRITE, drawn, log_in
from tests.backend.labels.drawn import picture
from workers import handlers
from workers.context import Context


def work(premises: Premises) -> Job:
    """Carry out the next waiting job here, as a worker would."""
    with premises.write() as session:
        job = claims.claim(session, "test", Lane.SHORT)
    assert job is not None
    request = kinds.decode(job.kind, job.request)
    folder = premises.settings.cache / "jobs"
    context = Context(job, request, premises.database, premises.files, premises.settings, folder)
    result = handlers.find(job.kind).run(context)
    with premises.write() as session:
        claims.finish(session, job, result)
        return queue.get(session, job.id)


def upload(client: TestClient, base: str, name: str, content: bytes, token: str) -> Any:
    return client.put(f"{base}/uploads/{token}/{name}", content=content, headers=WRITE)


def test_uploaded_pictures_become_images_and_the_upload_goes(
    client: TestClient, premises: Premises
) -> None:
    project = drawn(premises)
    base, token = f"/api/projects/{project.id}", secrets.token_hex(16)
    sha256 = client.get(f"{base}/images").json()["items"][0]["sha256"]
    picture = client.get(f"/files/{sha256}/full").content
    assert upload(client, base, "lot 7/new.png", picture, token).status_code == 201
    body = {"token": token, "lot": " lot 7 "}
    asked = client.post(f"{base}/import", json=body, headers=WRITE)
    assert (asked.status_code, asked.json()["state"]) == (201, "queued")
    assert work(premises).result["images"] == 1
    assert not (premises.settings.uploads / f"{project.id}-{token}").exists()
    with premises.read() as session:
        new = gallery.parse([("text", "lot 7/new.png"), ("group", "lot 7")])
        assert gallery.page(session, project.id, new).total == 1


def test_another_programs_boxes_are_judged_and_the_upload_goes(
    client: TestClient, premises: Premises
) -> None:
    project = drawn(premises)
    base, token = f"/api/projects/{project.id}", secrets.token_hex(16)
    refused = client.post(f"{base}/judge", json={"token": token}, headers=WRITE)
    assert refused.status_code == 400
    assert refused.json()["error"] == "Upload one file: COCO results, or a table of boxes."
    assert upload(client, base, "their boxes.csv", b"name,label\n", token).status_code == 201
    strange = client.post(f"{base}/judge", json={"token": token, "iou": 7}, headers=WRITE)
    assert strange.json()["error"] == "The overlap (IoU) must lie between 0 and 1, not be 7."
    asked = client.post(f"{base}/judge", json={"token": token}, headers=WRITE)
    assert (asked.status_code, asked.json()["state"]) == (201, "queued")
    assert not (premises.settings.uploads / f"{project.id}-{token}").exists()
    job = asked.json()["id"]
    with premises.read() as session:
        request = queue.get(session, job).request
    assert client.post(f"/api/jobs/{job}/cancel", headers=WRITE).status_code == 200
    assert (request["name"], premises.files.read(request["file"])) == (
        "their boxes.csv",
        b"name,label\n",
    )


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n", bytes(90), "[]".encode("utf-16")])
def test_what_is_no_text_is_neither_judged_nor_kept(
    client: TestClient, premises: Premises, content: bytes
) -> None:
    base, token = f"/api/projects/{drawn(premises).id}", secrets.token_hex(16)
    assert upload(client, base, "found.json", content, token).status_code == 201
    refused = client.post(f"{base}/judge", json={"token": token}, headers=WRITE)
    assert refused.json()["error"] == "found.json is not UTF-8 text, so it holds no predictions."
    assert not premises.files.has(hashlib.sha256(content).hexdigest())


def test_what_came_in_as_no_picture_is_never_decoded(
    client: TestClient, premises: Premises
) -> None:
    sha256 = premises.files.put(picture(shade=77))
    for how in ("thumb", "preview", "full", "tile/0/0/0"):
        answer = client.get(f"/files/{sha256}/{how}")
        assert answer.status_code == 404
        assert answer.json()["error"].startswith("There is no such picture")


def test_an_export_is_fetched_as_one_zip(client: TestClient, premises: Premises) -> None:
    project = drawn(premises)
    base = f"/api/projects/{project.id}"
    asked = client.post(f"{base}/export", json={"format": "yolo"}, headers=WRITE).json()
    assert client.get(f"/api/jobs/{asked['id']}/file").status_code == 404
    work(premises)
    answer = client.get(f"/api/jobs/{asked['id']}/file")
    assert (answer.status_code, answer.content[:2]) == (200, b"PK")
    assert f"{project.name}-yolo.zip".replace(" ", "%20") in answer.headers["content-disposition"]


def test_an_export_holds_what_was_chosen(client: TestClient, premises: Premises) -> None:
    project = drawn(premises)
    url = f"/api/projects/{project.id}"
    chosen = client.get(f"{url}/images").json()["items"][:2]
    body = {"format": "coco", "images": [one["id"] for one in chosen], "states": ["all"]}
    asked = client.post(f"{url}/export", json={**body, "shares": [1, 1]}, headers=WRITE)
    assert asked.status_code == 201
    result = work(premises).result
    assert (result["images"], result["left_out"]) == (2, {})
    strange = client.post(f"{url}/export", json={**body, "filter": "clas=x"}, headers=WRITE)
    assert (strange.status_code, "is no filter" in strange.json()["error"]) == (400, True)
    odd = client.post(f"{url}/import", json={"path": "/", "masks": "luck"}, headers=WRITE)
    assert odd.json()["error"].startswith("Masks cannot be read by 'luck'")


@pytest.mark.parametrize("name", ["../out.png", "..%2fout.png", "a%5c..%5cb.png", "a" * 300, "%00"])
def test_an_upload_never_leaves_its_folder(
    client: TestClient, premises: Premises, name: str
) -> None:
    base = f"/api/projects/{drawn(premises).id}"
    answer = upload(client, base, name, b"x", secrets.token_hex(16))
    assert 400 <= answer.status_code < 500
    assert not list(Path(premises.settings.home).rglob("out.png"))


def test_a_place_on_the_server_is_for_admins(guarded: Premises, stranger: TestClient) -> None:
    base = f"/api/projects/{drawn(guarded).id}"
    for name, status in (("lars", 403), ("ada", 201)):
        log_in(stranger, name)
        body = {"path": str(guarded.settings.home)}
        assert stranger.post(f"{base}/import", json=body, headers=WRITE).status_code == status


def test_a_format_nobody_knows_is_named(client: TestClient, premises: Premises) -> None:
    base = f"/api/projects/{drawn(premises).id}"
    answer = client.post(f"{base}/export", json={"format": "xls"}, headers=WRITE)
    assert (answer.status_code, "xls" in answer.json()["error"]) == (400, True)


def test_an_export_that_is_gone_is_told(client: TestClient, premises: Premises) -> None:
    base = f"/api/projects/{drawn(premises).id}"
    job = client.post(f"{base}/export", json={"format": "yolo"}, headers=WRITE).json()["id"]
    work(premises)
    (premises.settings.exports / f"{job}.zip").unlink()
    answer = client.get(f"/api/jobs/{job}/file")
    assert answer.status_code == 404
    assert answer.json()["error"] == f"Job {job} has left no file, or not any more; export again."


@pytest.mark.parametrize("model", ["v9", "../weights.pt"])
def test_a_try_that_is_refused_leaves_no_picture(
    client: TestClient, premises: Premises, model: str
) -> None:
    base = f"/api/projects/{drawn(premises).id}"
    sha256 = client.get(f"{base}/images").json()["items"][0]["sha256"]
    picture = {"picture": ("a.png", client.get(f"/files/{sha256}/full").content)}
    for place in (base, "/api/projects/999"):
        asked = client.post(
            f"{place}/detect/try", files=picture, data={"model": model}, headers=WRITE
        )
        assert 400 <= asked.status_code < 500
    assert not list((premises.settings.cache / "tries").glob("*"))


def test_uploads_are_bounded_one_by_one_and_together(tmp_path: Path) -> None:
    waiting = Uploads(tmp_path, 1000)
    for token in ("a", "b", "c"):
        waiting.begin(token)
        waiting.take(token, 900)
    with pytest.raises(Refused, match=r"This upload is larger than .* \(LOUPE_MAX_UPLOAD_GB\)"):
        waiting.take("a", 200)
    with pytest.raises(Refused, match="The uploads that wait are larger than"):
        waiting.take("d", 900)


def test_what_is_sent_to_one_project_is_not_counted_for_another(tmp_path: Path) -> None:
    premises = server.open_premises(Settings(home=tmp_path, max_upload_gb=1e-6))
    token = "0" * 32
    with TestClient(server.create(premises), base_url=HERE) as client:
        one, other = (f"/api/projects/{drawn(premises).id}" for _ in range(2))
        sent = [upload(client, base, "a.png", bytes(900), token) for base in (one, other)]
        assert [answer.status_code for answer in sent] == [201, 201]
        more = [upload(client, base, "b.png", bytes(900), token) for base in (one, other)]
        assert [answer.status_code for answer in more] == [400, 400]
    kept = sorted(path.parent.name for path in premises.settings.uploads.rglob("*.png"))
    assert kept == sorted(f"{base.rpartition('/')[2]}-{token}" for base in (one, other))


def test_what_waits_from_before_a_restart_counts_and_what_was_used_does_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "a" / "lot").mkdir(parents=True)
    (tmp_path / "a" / "lot" / "1.png").write_bytes(bytes(900))
    waiting = Uploads(tmp_path, 1000)
    waiting.begin("a")
    with pytest.raises(Refused):
        waiting.take("a", 200)
    shutil.rmtree(tmp_path / "a")
    after = Uploads(tmp_path, 1000)
    after.begin("a")
    after.take("a", 200)


def test_a_refused_upload_leaves_no_part_of_its_file(tmp_path: Path) -> None:
    premises = server.open_premises(Settings(home=tmp_path, max_upload_gb=1e-6))
    with TestClient(server.create(premises), base_url=HERE) as client:
        project, token = drawn(premises), "0" * 32
        base = f"/api/projects/{project.id}"
        assert upload(client, base, "a.png", bytes(900), token).status_code == 201
        refused = upload(client, base, "b.png", bytes(900), token)
    assert (refused.status_code, "larger than 1e-06 GB" in refused.json()["error"]) == (400, True)
    assert [one.name for one in premises.settings.uploads.rglob("*.png")] == ["a.png"]
