"""A project that has members is there for them and for admins, and for nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete

from app.premises import Premises
from backend.domain import Project, Role, Run
from backend.jobs import kinds, queue
from backend.labels import gallery, samples
from backend.projects import catalogue, people
from backend.storage import findings
from backend.storage.tables import ProjectRow
from tests.app.conftest import PASSWORD, WRITE, drawn, log_in


@pytest.fixture(scope="module")
def shut(guarded: Premises, asking_guarded: TestClient) -> Iterator[Project]:
    """A project for lou alone; lars and vera are no members."""
    with guarded.write() as session:
        pictures = samples.draw(guarded.files, "pcb", 3, seed=77)
        project = samples.create(session, "for lou", "pcb", pictures)
        people.add(session, "lou", Role.LABELER, PASSWORD)
    log_in(asking_guarded, "ada")
    url = f"/api/projects/{project.id}/members"
    answer = asking_guarded.put(url, json={"members": ["lou"]}, headers=WRITE)
    assert answer.json() == {"members": ["lou"]}
    yield project
    asking_guarded.cookies.clear()


@pytest.fixture(scope="module")
def addresses(guarded: Premises, shut: Project) -> list[str]:
    """One address of each kind of thing that a project has."""
    with guarded.write() as session:
        image = gallery.page(session, shut.id, gallery.Filter()).items[0].image
        job = queue.enqueue(session, kinds.Export(shut.id, "yolo"), author="lou")
        run = Run(job.id, "golden", "golden", datetime.now(UTC), project_id=shut.id)
        findings.start(session, run)
    return [
        f"/api/projects/{shut.id}",
        f"/api/projects/{shut.name}",
        f"/api/projects/{shut.id}/images",
        f"/api/images/{image.id}/history",
        f"/api/jobs/{job.id}",
        f"/api/runs/{run.id}/export/csv",
        f"/files/{image.sha256}/preview",
    ]


def test_only_members_and_admins_enter(stranger: TestClient, addresses: list[str]) -> None:
    for name, status in (("lou", 200), ("ada", 200), ("lars", 404), ("vera", 404)):
        log_in(stranger, name)
        assert {path: stranger.get(path).status_code for path in addresses} == dict.fromkeys(
            addresses, status
        ), name


@pytest.mark.usefixtures("addresses")
def test_listings_leave_out_what_is_shut(stranger: TestClient, shut: Project) -> None:
    for name, there in (("lou", True), ("ada", True), ("lars", False)):
        log_in(stranger, name)
        listed = {one["id"] for one in stranger.get("/api/projects").json()}
        jobs = {one["project"] for one in stranger.get("/api/jobs").json()["open"]}
        assert (shut.id in listed, shut.id in jobs) == (there, there), name


def test_somebody_who_is_no_member_saves_nothing(
    guarded: Premises, stranger: TestClient, shut: Project
) -> None:
    with guarded.read() as session:
        image = gallery.ids(session, shut.id, gallery.Filter())[0]
    log_in(stranger, "lars")
    body = {"version": 0, "boxes": []}
    answer = stranger.put(f"/api/images/{image}/boxes", json=body, headers=WRITE)
    nothing = stranger.put("/api/images/99999/boxes", json=body, headers=WRITE)
    assert (answer.status_code, nothing.status_code) == (404, 404)
    assert answer.json()["error"].replace(str(image), "99999") == nothing.json()["error"]


def test_only_an_admin_names_members_and_only_people(stranger: TestClient, shut: Project) -> None:
    url = f"/api/projects/{shut.id}/members"
    log_in(stranger, "lou")
    assert stranger.put(url, json={"members": None}, headers=WRITE).status_code == 403
    log_in(stranger, "ada")
    answer = stranger.put(url, json={"members": ["nobody"]}, headers=WRITE)
    assert (answer.status_code, "nobody" in answer.json()["error"]) == (404, True)
    assert stranger.get(url).json() == {"members": ["lou"]}


def test_a_name_that_is_the_number_of_a_shut_project_lets_nobody_into_that(
    guarded: Premises, stranger: TestClient, shut: Project
) -> None:
    with guarded.write() as session:
        named = catalogue.create(session, str(shut.id))
    log_in(stranger, "lars")
    assert stranger.get(f"/api/projects/{named.name}").json()["id"] == named.id
    log_in(stranger, "ada")
    url = f"/api/projects/{named.name}/members"
    assert stranger.put(url, json={"members": []}, headers=WRITE).status_code == 200
    log_in(stranger, "lars")
    assert stranger.get(f"/api/projects/{named.name}").status_code == 404
    with guarded.write() as session:
        session.execute(delete(ProjectRow).filter_by(id=named.id))


def test_a_project_is_opened_to_everybody_again(guarded: Premises, stranger: TestClient) -> None:
    project = drawn(guarded)
    url = f"/api/projects/{project.id}/members"
    for members, status in (([], 404), (None, 200)):
        log_in(stranger, "ada")
        assert stranger.put(url, json={"members": members}, headers=WRITE).status_code == 200
        log_in(stranger, "lars")
        assert stranger.get(f"/api/projects/{project.id}").status_code == status
