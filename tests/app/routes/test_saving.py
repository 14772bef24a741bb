"""What a save is refused for, who may save, and what a window of images holds."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.premises import Premises
from backend.domain import Project
from backend.labels import gallery, images, labelling, worklist
from tests.app.conftest import WRITE, drawn, log_in

BOX = {"id": "b", "x1": 1, "y1": 1, "x2": 9, "y2": 9, "label": "open"}


@pytest.fixture(scope="module")
def project(premises: Premises) -> Project:
    return drawn(premises, 6)


@pytest.fixture
def image(premises: Premises, project: Project) -> int:
    with premises.read() as session:
        return gallery.ids(session, project.id, gallery.Filter())[0]


def version(premises: Premises, image: int) -> int:
    with premises.write() as session:
        return labelling.version_of(session, image)


def put(client: TestClient, image: int, body: Any, **how: Any) -> tuple[int, dict[str, Any]]:
    answer = client.put(f"/api/images/{image}/boxes", json=body, headers=WRITE, **how)
    said = answer.json()
    if answer.is_success:
        assert answer.headers["etag"] == f'"{said["version"]}"'
    return answer.status_code, said


def test_a_save_is_kept_and_a_stale_one_shows_what_stands(
    client: TestClient, premises: Premises, image: int
) -> None:
    seen = version(premises, image)
    assert put(client, image, {"version": seen, "boxes": [BOX]}) == (200, {"version": seen + 1})
    status, said = put(client, image, {"version": seen, "boxes": []})
    assert status == 409
    assert said["theirs"]["version"] == seen + 1
    assert [box["id"] for box in said["theirs"]["boxes"]] == ["b"]


@pytest.mark.parametrize(
    "boxes",
    [
        '[{"id": "b", "x1": NaN, "y1": 1, "x2": 9, "y2": 9, "label": "open"}]',
        '[{"id": "b", "x1": 1, "y1": 1, "x2": Infinity, "y2": 9, "label": "open"}]',
        '[{"id": "b", "x1": 9, "y1": 1, "x2": 1, "y2": 9, "label": "open"}]',
        '[{"id": "b", "x1": 1, "y1": 1, "x2": 9, "y2": 9, "label": "no such class"}]',
        '[{"id": "b", "x1": "a", "y1": 1, "x2": 9, "y2": 9, "label": "open"}]',
        '"many"',
    ],
)
def test_a_box_that_cannot_be_is_refused_with_a_sentence(
    client: TestClient, premises: Premises, image: int, boxes: str
) -> None:
    seen = version(premises, image)
    body = f'{{"version": {seen}, "boxes": {boxes}}}'
    answer = client.put(f"/api/images/{image}/boxes", content=body, headers=WRITE)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith((".", "'"))
    assert version(premises, image) == seen


def test_too_many_boxes_and_too_many_bytes_are_refused(
    client: TestClient, premises: Premises, image: int
) -> None:
    seen = version(premises, image)
    many = [{**BOX, "id": str(at)} for at in range(labelling.MOST_BOXES + 1)]
    assert put(client, image, {"version": seen, "boxes": many})[0] == 400
    large = b'{"version": 0, "boxes": [' + b" " * 50_000_000 + b"]}"
    answer = client.put(f"/api/images/{image}/boxes", content=large, headers=WRITE)
    assert answer.status_code == 413
    assert "MB" in answer.json()["error"]
    assert version(premises, image) == seen


def test_a_save_without_the_header_is_refused(client: TestClient, image: int) -> None:
    body = {"version": 0, "boxes": []}
    assert client.put(f"/api/images/{image}/boxes", json=body).status_code == 403


def test_who_only_looks_may_not_save_decide_or_restore(
    asking_guarded: TestClient, guarded: Premises
) -> None:
    asking_guarded.cookies.clear()
    project = drawn(guarded, 3)
    log_in(asking_guarded, "vera")
    around = asking_guarded.get(f"/api/projects/{project.id}/images/0/around")
    assert around.json()["me"]["role"] == "viewer"
    image = around.json()["image"]
    for method, path, body in (
        ("PUT", f"/api/images/{image}/boxes", {"version": 0, "boxes": []}),
        ("POST", f"/api/images/{image}/restore", {"version": 0, "revision": 0}),
        ("POST", "/api/runs/999999/decide", {"items": [{"image": image, "idx": 0, "verdict": ""}]}),
        ("PUT", f"/api/projects/{project.id}/review-rule", {}),
    ):
        answer = asking_guarded.request(method, path, json=body, headers=WRITE)
        assert answer.status_code == 403, path


@pytest.mark.parametrize(
    "path",
    [
        "/api/images/999999/history",
        "/api/why/..%2F..%2Fetc%2Fpasswd",
        "/api/runs/999999/images/..%2F1",
        "/api/projects/..%2F..%2Fetc/images/0/around",
    ],
)
def test_names_of_nothing_are_refused(client: TestClient, path: str) -> None:
    assert client.get(path).status_code in (400, 404)


@pytest.mark.parametrize("sort", gallery.SORTS)
def test_windows_walk_in_the_order_of_the_listing(
    premises: Premises, project: Project, sort: str
) -> None:
    chosen = gallery.parse([("sort", sort)])
    with premises.read() as session:
        order = gallery.ids(session, project.id, chosen)
        for at, image in enumerate(order):
            window = worklist.around(session, project.id, chosen, image, 1, 2)
            assert window.position == at
            assert [item.image.id for item in window.items] == order[max(0, at - 1) : at + 3]
        assert worklist.around(session, project.id, chosen, 0).image_id == order[0]


def test_an_image_keeps_its_place_when_the_filter_no_longer_lets_it_through(
    client: TestClient, premises: Premises, project: Project
) -> None:
    chosen = gallery.parse([("state", "new")])
    with premises.read() as session:
        first, second, *_ = gallery.ids(session, project.id, chosen)
    put(client, second, {"version": version(premises, second), "boxes": [], "state": "done"})
    path = f"/api/projects/{project.id}/images/{second}/around?state=new&before=1&after=0"
    found = client.get(path).json()
    assert [item["id"] for item in found["items"]] == [first, second]
    after = client.get(f"/api/projects/{project.id}/images/{first}/unlabelled?state=new").json()
    assert after["id"] not in (first, second)


def test_a_restored_revision_is_the_newest_and_nothing_is_lost(
    client: TestClient, premises: Premises, project: Project
) -> None:
    with premises.read() as session:
        image = gallery.ids(session, project.id, gallery.Filter())[-1]
    seen = version(premises, image)
    put(client, image, {"version": seen, "boxes": [BOX], "action": "draw"})
    put(client, image, {"version": seen + 1, "boxes": [], "action": "delete"})
    body = {"version": seen + 2, "revision": seen + 1}
    answer = client.post(f"/api/images/{image}/restore", json=body, headers=WRITE)
    assert answer.status_code == 200
    history = client.get(f"/api/images/{image}/history").json()["revisions"]
    assert [one["version"] for one in history[:3]] == [seen + 3, seen + 2, seen + 1]
    assert [len(one["boxes"]) for one in history[:3]] == [1, 0, 1]
    assert client.post(f"/api/images/{image}/restore", json=body, headers=WRITE).status_code == 409
    with premises.read() as session:
        assert images.get(session, image).version == seen + 3


def test_a_restored_revision_brings_its_comment_along(
    client: TestClient, premises: Premises, image: int
) -> None:
    seen = version(premises, image)
    put(client, image, {"version": seen, "boxes": [], "comment": "scratched"})
    put(client, image, {"version": seen + 1, "boxes": [], "comment": ""})
    body = {"version": seen + 2, "revision": seen + 1}
    answer = client.post(f"/api/images/{image}/restore", json=body, headers=WRITE)
    assert answer.json()["comment"] == "scratched"
    with premises.read() as session:
        assert images.get(session, image).comment == "scratched"


def test_every_revision_is_told_a_hundred_at_a_time(
    client: TestClient, premises: Premises, image: int
) -> None:
    seen = version(premises, image)
    for number in range(seen, seen + 110):
        put(client, image, {"version": number, "boxes": []})
    first = client.get(f"/api/images/{image}/history").json()
    last = first["revisions"][-1]["version"]
    rest = client.get(f"/api/images/{image}/history?before={last}").json()
    told = [one["version"] for page in (first, rest) for one in page["revisions"]]
    assert told == list(range(seen + 110, 0, -1))
    assert (len(first["revisions"]), first["more"], rest["more"]) == (100, True, False)
    assert client.get(f"/api/images/{image}/history?before=-1").status_code == 400


def test_author_origin_and_deed_are_not_what_a_page_says_they_are(
    client: TestClient, premises: Premises, image: int
) -> None:
    lie = {"origin": "import", "author": "somebody else"}
    body = {"version": version(premises, image), "boxes": [BOX | lie | {"id": "lie"}]}
    assert put(client, image, {**body, "action": "import"})[0] == 200
    with premises.read() as session:
        newest = labelling.history(session, image, most=1)[0]
    (box,) = newest.boxes
    assert (box.origin, box.author) == ("human", newest.author)
    assert newest.author != "somebody else"
    assert newest.action.startswith("draw")


def test_a_save_names_no_run_and_no_detection_that_there_is_not(
    client: TestClient, premises: Premises, image: int
) -> None:
    seen = version(premises, image)
    ref = {"run": 99999, "image": image, "idx": 0}
    for body in ({"boxes": [], "run": 99999}, {"boxes": [BOX | {"id": "new", "detection": ref}]}):
        status, said = put(client, image, {"version": seen, **body})
        assert (status, "99999" in said["error"]) == (400, True)
    assert version(premises, image) == seen
