"""Who gets in, and what a forged or careless request is told."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app import server
from app.edge import login
from app.premises import Premises
from backend.domain import Role
from backend.errors import Refused
from backend.projects import people
from tests import loops
from tests.app.conftest import HERE, PASSWORD, WRITE, drawn, log_in

TOKEN = "0" * 32
NEW = {"name": "new", "task": "detect"}
CLOSED = (
    "/api/projects",
    "/api/jobs",
    "/config",
    "/gradio_api/info",
    "/gradio_api/queue/data?session_hash=x",
    "/theme.css",
    f"/files/{'0' * 64}/thumb",
)


@pytest.mark.parametrize("path", CLOSED)
def test_without_a_cookie_nothing_is_told(stranger: TestClient, path: str) -> None:
    assert stranger.get(path).status_code == 401


def test_a_page_leads_to_the_login_and_back(stranger: TestClient) -> None:
    answer = stranger.get("/?tab=jobs", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2F%3Ftab%3Djobs")
    form = {"name": "ada", "password": PASSWORD, "next": "/?tab=jobs"}
    assert stranger.post("/login", data=form).headers["location"] == "/?tab=jobs"
    assert stranger.get("/api/me").json()["name"] == "ada"


def test_a_login_never_leads_to_another_site(stranger: TestClient) -> None:
    for next_ in ("https://evil.example", "//evil.example", "/\\evil.example"):
        form = {"name": "ada", "password": PASSWORD, "next": next_}
        assert stranger.post("/login", data=form).headers["location"] == "/"


def test_a_forged_cookie_is_nobodys(stranger: TestClient) -> None:
    for cookie in ("ada", "ImFkYSI.aaaa.bbbb", "", "ImFkYSI." + "a" * 4000):
        stranger.cookies.set(login.COOKIE, cookie)
        assert stranger.get("/api/me").status_code == 401


def test_a_cookie_survives_a_restart(guarded: Premises, stranger: TestClient) -> None:
    log_in(stranger, "lars")
    cookie = stranger.cookies[login.COOKIE]
    found = loops.run(login.Door(guarded.database, True).who(cookie))
    assert found == stranger_named(guarded, "lars")


def test_a_person_who_waits_for_the_database_keeps_nobody_else_waiting(
    guarded: Premises, stranger: TestClient
) -> None:
    log_in(stranger, "lars")
    cookies = {login.COOKIE: stranger.cookies[login.COOKIE]}
    with contextlib.ExitStack() as busy:
        for _ in range(15):
            busy.enter_context(guarded.database.engine.connect())
        guarded.door.forget("lars")
        loops.run(_ask_two(server.create(guarded), cookies, busy))


async def _ask_two(app: FastAPI, cookies: dict[str, str], busy: contextlib.ExitStack) -> None:
    transport = httpx.ASGITransport(app)
    async with (
        httpx.AsyncClient(transport=transport, base_url=HERE, cookies=cookies) as known,
        httpx.AsyncClient(transport=transport, base_url=HERE) as unknown,
    ):
        slow = asyncio.create_task(known.get("/api/me"))
        await asyncio.sleep(0.1)
        begun = time.monotonic()
        assert (await unknown.get("/health")).status_code == 200
        assert time.monotonic() - begun < 5
        busy.close()
        assert (await slow).status_code == 200


def stranger_named(premises: Premises, name: str) -> object:
    with premises.read() as session:
        return people.find(session, name)


def test_a_role_that_is_taken_away_is_gone_at_once(guarded: Premises, stranger: TestClient) -> None:
    with guarded.write() as session:
        people.add(session, "eva", Role.ADMIN, PASSWORD)
    log_in(stranger, "eva")
    with guarded.write() as session:
        people.set_role(session, "eva", Role.VIEWER)
    guarded.door.forget("eva")
    assert stranger.post("/api/projects", json=NEW, headers=WRITE).status_code == 403


def test_a_new_password_ends_what_was_logged_in_with_the_old_one(
    guarded: Premises, stranger: TestClient
) -> None:
    with guarded.write() as session:
        people.add(session, "pia", Role.LABELER, PASSWORD)
    log_in(stranger, "pia")
    old = stranger.cookies[login.COOKIE]
    log_in(stranger, "ada")
    new = {"password": "another password"}
    assert stranger.patch("/api/people/pia", json=new, headers=WRITE).status_code == 200
    assert _status_with(stranger, old) == 401
    form = {"name": "pia", **new}
    assert stranger.post("/login", data=form).status_code == 303
    assert stranger.get("/api/me").json()["name"] == "pia"


def test_a_person_who_is_removed_is_out_at_once(guarded: Premises, stranger: TestClient) -> None:
    with guarded.write() as session:
        people.add(session, "rex", Role.LABELER, PASSWORD)
    log_in(stranger, "rex")
    old = stranger.cookies[login.COOKIE]
    for change in (people.remove, _add_again):
        with guarded.write() as session:
            change(session, "rex")
        guarded.door.forget("rex")
        assert _status_with(stranger, old) == 401


def _add_again(session: Session, name: str) -> None:
    people.add(session, name, Role.ADMIN, PASSWORD)


def _status_with(client: TestClient, cookie: str) -> int:
    client.cookies.clear()
    client.cookies.set(login.COOKIE, cookie)
    status = client.get("/api/me").status_code
    client.cookies.clear()
    return status


@pytest.mark.parametrize(("name", "status"), [("vera", 403), ("lars", 403), ("ada", 201)])
def test_only_an_admin_makes_projects(stranger: TestClient, name: str, status: int) -> None:
    log_in(stranger, name)
    assert stranger.post("/api/projects", json=NEW, headers=WRITE).status_code == status


@pytest.mark.parametrize(("name", "status"), [("vera", 403), ("lars", 200), ("ada", 200)])
def test_a_viewer_changes_nothing(
    guarded: Premises, stranger: TestClient, name: str, status: int
) -> None:
    project = drawn(guarded)
    log_in(stranger, name)
    url = f"/api/projects/{project.id}/images"
    ids = [item["id"] for item in stranger.get(url).json()["items"]]
    body = {"action": "split", "value": "test", "images": ids}
    assert stranger.post(f"{url}/change", json=body, headers=WRITE).status_code == status


def test_gradio_itself_takes_no_files(stranger: TestClient) -> None:
    log_in(stranger, "ada")
    answer = stranger.post("/gradio_api/upload", files={"files": b"x"})
    assert answer.status_code == 403


def test_a_body_that_is_far_too_large_is_refused_with_a_sentence(client: TestClient) -> None:
    large = b'{"name": "' + b"x" * 9_000_000 + b'"}'
    for content in (large, iter([large[:5_000_000], large[5_000_000:]])):
        answer = client.post("/api/projects", content=content, headers=WRITE)
        assert (answer.status_code, "8 MB" in answer.json()["error"]) == (413, True)


def test_a_login_is_small(stranger: TestClient) -> None:
    form = b"name=ada&password=guess&next=" + b"x" * 40_000
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for content in (form, iter([form[:20_000], form[20_000:]])):
        answer = stranger.post("/l%6Fgin", content=content, headers=headers)
        assert (answer.status_code, "32 kB" in answer.text) == (413, True)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/projects/{id}/detect/try", 413),
        (f"/api/projects/x%2Fuploads%2F{TOKEN}%2Fy/detect/try", 413),
        ("/gradio_api/queue/join", 413),
        (f"/api/projects/{{id}}/uploads/{TOKEN}/scan.bin", 201),
    ],
)
def test_only_uploads_may_be_of_any_size(
    client: TestClient, premises: Premises, path: str, status: int
) -> None:
    path = path.format(id=drawn(premises).id)
    method = "PUT" if status == 201 else "POST"
    form = {"picture": bytes(66_000_000)}
    assert client.request(method, path, files=form, headers=WRITE).status_code == status


def test_a_write_needs_our_header(client: TestClient) -> None:
    answer = client.post("/api/projects", json=NEW)
    assert (answer.status_code, "X-Loupe" in answer.json()["error"]) == (403, True)


def test_a_write_from_another_site_is_refused(client: TestClient) -> None:
    for path in ("/api/projects", "/gradio_api/run/predict", "/login"):
        headers = {**WRITE, "Origin": "https://evil.example"}
        assert client.post(path, json=NEW, headers=headers).status_code == 403


def test_another_name_for_this_machine_is_refused(client: TestClient) -> None:
    assert client.get("/api/projects", headers={"Host": "evil.example"}).status_code == 403


def test_every_answer_carries_the_security_headers(client: TestClient) -> None:
    for path in ("/", "/api/projects", "/nothing-here", "/login"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/api/projects", "/nothing-here", "/login"])
def test_no_page_runs_what_stands_in_it_or_what_it_makes_of_text(
    client: TestClient, stranger: TestClient, path: str
) -> None:
    for asking in (client, stranger):
        rules = dict(
            rule.strip().partition(" ")[::2]
            for rule in asking.get(path).headers["content-security-policy"].split(";")
        )
        assert "unsafe" not in rules["script-src"]
        assert ("unsafe-eval" in str(rules), rules["object-src"]) == (False, "'none'")


def test_the_scripts_of_gradios_page_have_a_nonce_of_that_answer_alone(client: TestClient) -> None:
    nonces = set()
    for _ in range(2):
        answer = client.get("/")
        scripts = re.findall(r"<script[^>]*>", answer.text)
        (nonce,) = {re.findall(r'nonce="([^"]+)"', one)[0] for one in scripts}
        assert f"'nonce-{nonce}'" in answer.headers["content-security-policy"]
        nonces.add(nonce)
    assert len(nonces) == 2


def test_the_network_is_not_served_without_accounts(premises: Premises) -> None:
    with pytest.raises(Refused, match="--auth"):
        server.check_address(premises, "0.0.0.0")


def test_accounts_without_anybody_in_them_are_refused(
    guarded: Premises, premises: Premises
) -> None:
    server.check_address(guarded, "0.0.0.0")
    empty = server.open_premises(premises.settings, with_accounts=True)
    with pytest.raises(Refused, match="loupe user add"):
        server.check_address(empty, "127.0.0.1")
    empty.database.close()
