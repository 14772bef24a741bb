"""Guessing is slow and harms nobody else; a login is seen, ended, and ends with its password."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import httpx
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from app import server
from app.edge import guessing, login
from app.premises import Premises
from backend.domain import Role
from backend.errors import Denied
from backend.projects import logins, people
from backend.settings import Settings
from backend.storage.tables import LoginRow
from backend.storage.types import now
from tests import loops
from tests.app.commands import finding
from tests.app.conftest import HERE, PASSWORD, WRITE

NEW = "another password"


@pytest.fixture
def premises(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    """Premises with accounts in which nobody has guessed yet, and no wait ends meanwhile."""
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    opened = server.open_premises(settings, with_accounts=True)
    door = login.Door(opened.database, accounts=True, guesses=guessing.Guesses(lambda: 0.0))
    opened = replace(opened, door=door)
    with opened.write() as session:
        people.add(session, "ana", Role.LABELER, PASSWORD)
        people.add(session, "ada", Role.ADMIN, PASSWORD)
    yield opened
    opened.database.close()


@pytest.fixture
def browse(premises: Premises) -> Iterator[Callable[[str], TestClient]]:
    """Gives a browser in which somebody has logged in."""
    made: list[TestClient] = []
    app = server.create(premises)

    def browser(name: str) -> TestClient:
        client = TestClient(app, base_url=HERE, follow_redirects=False)
        made.append(client)
        form = {"name": name, "password": PASSWORD}
        assert client.post("/login", data=form).status_code == 303
        return client

    yield browser
    for client in made:
        client.close()


def guesses(premises: Premises, names: list[str], address: str, password: str) -> Counter[int]:
    """How guesses that all arrive at once are answered."""

    async def ask() -> Counter[int]:
        transport = httpx.ASGITransport(server.create(premises), client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            forms = [{"name": name, "password": password} for name in names]
            asked = [client.post("/login", data=form) for form in forms]
            return Counter(one.status_code for one in await asyncio.gather(*asked))

    return loops.run(ask())


def test_guesses_that_arrive_at_once_are_counted_one_by_one(premises: Premises) -> None:
    free = guessing.PAIR.free
    assert guesses(premises, ["ana"] * 120, "10.0.0.1", "guess") == {403: free, 429: 120 - free}


def test_guesses_at_many_names_count_for_their_address_and_wait_in_a_bounded_pool(
    premises: Premises,
) -> None:
    names = [f"name {number}" for number in range(120)]
    said = guesses(premises, names, "10.0.0.1", "guess")
    most = guessing.AT_ONCE + guessing.WAITING
    assert said == {403: most, 503: guessing.ADDRESS.free - most, 429: 120 - guessing.ADDRESS.free}


def test_who_guesses_at_a_name_keeps_nobody_out_who_has_it(premises: Premises) -> None:
    guesses(premises, ["ana"] * 60, "10.0.0.1", "guess")
    assert guesses(premises, ["ana"], "10.0.0.1", PASSWORD) == {429: 1}
    assert guesses(premises, ["ana"], "10.0.0.2", PASSWORD) == {303: 1}


def test_the_wait_doubles_up_to_a_bound_and_a_right_password_ends_it() -> None:
    now = [0.0]
    known = guessing.Guesses(lambda: now[0])
    waits = []
    for _ in range(20):
        while (wait := seconds(known)) == 0:
            pass
        waits.append(wait)
        now[0] += wait
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert max(waits) == guessing.PAIR.longest
    known.was_right("ana", "10.0.0.1")
    assert seconds(known) == 0


def seconds(known: guessing.Guesses) -> int:
    """How long a guess must wait; 0 for one that may be tried at once."""
    try:
        known.count("ana", "10.0.0.1")
    except guessing.TooOften as error:
        return error.seconds
    return 0


def test_an_unknown_name_costs_as_much_time_as_a_known_one(premises: Premises) -> None:
    def cost(name: str) -> float:
        began = time.thread_time()
        with premises.read() as session, pytest.raises(Denied):
            people.enter(session, name, "guess")
        return time.thread_time() - began

    known, unknown = (min(cost(name) for _ in range(5)) for name in ("ana", "nobody"))
    assert 0.5 < unknown / known < 2


def test_a_cookie_does_not_outlive_its_logout(browse: Callable[[str], TestClient]) -> None:
    client = browse("ana")
    kept = {login.COOKIE: client.cookies[login.COOKIE]}
    assert client.get("/api/me").status_code == 200
    client.post("/logout")
    client.cookies.update(kept)
    assert client.get("/api/me").status_code == 401


def test_people_change_their_own_password_and_stay_logged_in_here_alone(
    browse: Callable[[str], TestClient],
) -> None:
    here, there = browse("ana"), browse("ana")
    wrong = here.put("/api/me/password", json={"old": "guess", "new": NEW}, headers=WRITE)
    assert wrong.status_code == 403
    right = here.put("/api/me/password", json={"old": PASSWORD, "new": NEW}, headers=WRITE)
    assert right.status_code == 200
    assert (here.get("/api/me").status_code, there.get("/api/me").status_code) == (200, 401)
    form = {"name": "ana", "password": NEW}
    assert there.post("/login", data=form).status_code == 303


def test_an_old_password_is_guessed_at_as_slowly_as_any(
    browse: Callable[[str], TestClient],
) -> None:
    client, body = browse("ana"), {"old": "guess", "new": NEW}
    put = [client.put("/api/me/password", json=body, headers=WRITE) for _ in range(6)]
    assert [one.status_code for one in put] == [403] * 5 + [429]


def test_a_person_sees_and_ends_their_logins(browse: Callable[[str], TestClient]) -> None:
    here, there, third = browse("ana"), browse("ana"), browse("ana")
    listed = here.get("/api/logins").json()
    assert sorted(one["here"] for one in listed) == [False, False, True]
    other = there.get("/api/logins").json()
    mine = next(one["id"] for one in other if one["here"])
    assert here.delete(f"/api/logins/{mine}", headers=WRITE).status_code == 200
    assert (there.get("/api/me").status_code, third.get("/api/me").status_code) == (401, 200)
    here.delete("/api/logins", headers=WRITE)
    assert (here.get("/api/me").status_code, third.get("/api/me").status_code) == (200, 401)


def test_a_login_says_when_it_was_used_last(
    premises: Premises, browse: Callable[[str], TestClient]
) -> None:
    client = browse("ana")
    with premises.write() as session:
        session.execute(update(LoginRow).values(seen=now() - timedelta(hours=1)))
    assert client.get("/api/me").status_code == 200
    finding.until(lambda: now() - last_seen(premises) < timedelta(minutes=1), 120)


def last_seen(premises: Premises) -> datetime:
    with premises.read() as session:
        return logins.of(session, "ana")[0].seen


def test_an_admin_ends_the_logins_of_others_and_nobody_else_does(
    browse: Callable[[str], TestClient],
) -> None:
    ana, ada = browse("ana"), browse("ada")
    hers = ada.get("/api/logins").json()[0]["id"]
    asked = [
        ana.get("/api/logins?of=ada"),
        ana.delete("/api/logins?of=ada", headers=WRITE),
        ana.delete(f"/api/logins/{hers}", headers=WRITE),
    ]
    assert [one.status_code for one in asked] == [403, 403, 404]
    assert len(ada.get("/api/logins?of=ana").json()) == 1
    assert ada.delete("/api/logins?of=ana", headers=WRITE).json() == []
    assert (ana.get("/api/me").status_code, ada.get("/api/me").status_code) == (401, 200)


def test_an_admin_closes_an_account_but_not_the_last_of_an_admin(
    browse: Callable[[str], TestClient],
) -> None:
    ana, ada = browse("ana"), browse("ada")
    assert [one["name"] for one in ada.delete("/api/people/ana", headers=WRITE).json()] == ["ada"]
    assert ana.get("/api/me").status_code == 401
    refused = ada.delete("/api/people/ada", headers=WRITE)
    assert (refused.status_code, "only admin" in refused.json()["error"]) == (400, True)


@pytest.mark.parametrize(("scheme", "secure"), [("https", True), ("http", False)])
def test_a_cookie_is_never_sent_in_the_open_behind_tls(
    premises: Premises, scheme: str, secure: bool
) -> None:
    client = TestClient(server.create(premises), base_url=f"{scheme}://127.0.0.1")
    form = {"name": "ana", "password": PASSWORD}
    answer = client.post("/login", data=form, follow_redirects=False)
    assert ("Secure" in answer.headers["set-cookie"]) is secure
    assert "HttpOnly" in answer.headers["set-cookie"]


@pytest.fixture
def shut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Premises without accounts that was started with a token."""
    opened = server.open_premises(
        Settings(home=tmp_path_factory.mktemp("shut")), token="secret-token"
    )
    yield TestClient(server.create(opened), base_url=HERE, follow_redirects=False)
    opened.database.close()


def test_the_token_of_the_start_opens_and_leaves_the_address(shut: TestClient) -> None:
    page = {"Accept": "text/html"}
    assert shut.get("/api/me").status_code == 401
    assert shut.get("/?token=guess&tab=jobs", headers=page).headers["location"] == "/?tab=jobs"
    assert shut.get("/?tab=jobs", headers=page).headers["location"].startswith("/login?next=")
    assert "printed" in shut.get("/login").text
    answer = shut.get("/?token=secret-token&tab=jobs", headers=page)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?tab=jobs")
    me = shut.get("/api/me").json()
    assert (me["role"], me["accounts"]) == ("admin", False)


def test_the_token_may_be_typed_and_its_cookie_ends_with_the_logout(shut: TestClient) -> None:
    assert shut.post("/login", data={"token": "guess"}).status_code == 403
    assert shut.post("/login", data={"token": "secret-token"}).status_code == 303
    kept = {login.COOKIE: shut.cookies[login.COOKIE]}
    shut.post("/logout")
    shut.cookies.update(kept)
    assert shut.get("/api/me").status_code == 401
