"""A token that asks too often waits, one that has ended is shut out, and guesses are few."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app import server
from app.edge import bearers
from app.premises import Premises
from backend.domain import Role
from backend.projects import people, tokens
from backend.settings import Settings
from tests import loops
from tests.app.commands import finding
from tests.app.conftest import HERE, PASSWORD, WRITE

PROJECTS = "/api/v1/projects"


@pytest.fixture(scope="module")
def premises(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    """Premises with accounts in which a token may ask four times at once."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), token_rate=8)
    opened = server.open_premises(settings, with_accounts=True)
    with opened.write() as session:
        people.add(session, "ana", Role.LABELER, PASSWORD)
    yield opened
    opened.database.close()


@pytest.fixture(scope="module")
def client(premises: Premises) -> Iterator[TestClient]:
    with TestClient(server.create(premises), base_url=HERE) as asking:
        yield asking


def token(premises: Premises, name: str = "line 3") -> dict[str, str]:
    with premises.write() as session:
        return {"authorization": f"Bearer {tokens.add(session, name, 'ana')[1]}"}


def test_the_rate_of_one_token_holds_up_no_other(premises: Premises, client: TestClient) -> None:
    mine, other = token(premises), token(premises, "line 4")
    asked = [client.get(PROJECTS, headers=mine) for _ in range(5)]
    assert [one.status_code for one in asked] == [200] * 4 + [429]
    assert int(asked[-1].headers["retry-after"]) in range(1, 9)
    assert asked[-1].json()["title"] == "Too Many Requests"
    assert client.get(PROJECTS, headers=other).status_code == 200


def test_a_rate_is_given_back_by_the_clock() -> None:
    now = [0.0]
    rate = bearers.Rate(60, lambda: now[0])
    for _ in range(30):
        rate.take("a")
    with pytest.raises(bearers.TooMany) as refused:
        rate.take("a")
    assert refused.value.seconds == 1
    now[0] = 1.0
    rate.take("a")
    with pytest.raises(bearers.TooMany):
        rate.take("a")


def test_guesses_at_tokens_are_bounded_by_their_address(premises: Premises) -> None:
    asked, right = bearers.Bearers(premises.database, None, 8), token(premises, "line 5")
    wrong = {"authorization": f"Bearer loupe_{'a' * 43}"}

    def who(headers: dict[str, str], address: str) -> str:
        try:
            found = loops.run(asked.who(headers, address))
        except bearers.TooMany:
            return "waits"
        return found.name if found else "nobody"

    said = [who(wrong, "10.0.0.1") for _ in range(31)]
    assert said == ["nobody"] * 30 + ["waits"]
    assert [who(right, one) for one in ("10.0.0.1", "10.0.0.2")] == ["waits", "ana"]
    # Once it is known, an ended one of another program beside it holds it up no more.
    assert who(right, "10.0.0.1") == "ana"
    assert who({"authorization": "Bearer "}, "10.0.0.1") == "nobody"


def test_a_token_that_ends_is_shut_out_and_its_use_is_seen(
    premises: Premises, client: TestClient
) -> None:
    mine = token(premises, "line 6")
    assert client.get(PROJECTS, headers=mine).status_code == 200

    def seen() -> bool:
        with premises.read() as session:
            named = {one.name: one for one in tokens.everything(session)}
        return named["line 6"].seen is not None

    finding.until(seen, 60)
    with premises.write() as session:
        tokens.end(session, "line 6")
    premises.door.forget("ana")
    assert client.get(PROJECTS, headers=mine).status_code == 401


def test_without_accounts_the_owner_asks_by_a_token_too(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    opened = server.open_premises(Settings(home=tmp_path_factory.mktemp("alone")))
    with opened.write() as session:
        headers = {"authorization": f"Bearer {tokens.add(session, 'mine')[1]}"}
    with TestClient(server.create(opened), base_url=HERE) as asking:
        assert asking.get(PROJECTS, headers=WRITE).status_code == 401
        made = asking.post(PROJECTS, json={"name": "boards"}, headers=headers)
        assert (made.status_code, made.json()["name"]) == (200, "boards")
        strange = asking.get(PROJECTS, headers={**headers, "host": "elsewhere"})
        assert (strange.status_code, strange.json()["status"]) == (403, 403)
        foreign = {**headers, "origin": "http://elsewhere"}
        assert asking.post(PROJECTS, json={"name": "x"}, headers=foreign).status_code == 403
    opened.database.close()


def test_a_token_of_no_account_is_nobodys_where_there_are_some(
    premises: Premises, client: TestClient
) -> None:
    with premises.write() as session:
        headers = {"authorization": f"Bearer {tokens.add(session, 'mine')[1]}"}
    assert client.get(PROJECTS, headers=headers).status_code == 401
