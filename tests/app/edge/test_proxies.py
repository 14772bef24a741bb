"""Who asks is who is connected: an address or a scheme that is only claimed counts for nothing."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest
import uvicorn

from app import server
from app.edge import guessing, login
from app.premises import Premises
from backend.domain import Role
from backend.projects import people
from backend.settings import Settings
from tests.app.conftest import PASSWORD
from tests.workers import running

TRIES = 2 * guessing.PAIR.free


@pytest.fixture
def premises(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    """Premises with accounts in which nobody has guessed yet, and no wait ends meanwhile."""
    opened = server.open_premises(
        Settings(home=tmp_path_factory.mktemp("home")), with_accounts=True
    )
    door = login.Door(opened.database, accounts=True, guesses=guessing.Guesses(lambda: 0.0))
    opened = replace(opened, door=door)
    with opened.write() as session:
        people.add(session, "ana", Role.LABELER, PASSWORD)
    yield opened
    opened.database.close()


@contextmanager
def served(premises: Premises, proxies: str) -> Iterator[httpx.Client]:
    """The site over real sockets, and who asks it from this machine."""
    port = running.free_port()
    config = server.configured(server.create(premises), "127.0.0.1", port, proxies=proxies)
    site = uvicorn.Server(config)
    thread = threading.Thread(target=site.run)
    thread.start()
    while not site.started:
        time.sleep(0.02)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        site.should_exit = True
        thread.join()


def guess(client: httpx.Client, number: int, password: str = "guess") -> httpx.Response:
    claimed = {"X-Forwarded-For": f"10.0.0.{number}", "X-Forwarded-Proto": "https"}
    return client.post("/login", data={"name": "ana", "password": password}, headers=claimed)


def test_a_guesser_on_this_machine_cannot_name_a_new_address_each_time(
    premises: Premises, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    with served(premises, Settings().trusted_proxies) as client:
        said = Counter(guess(client, number).status_code for number in range(TRIES))
    assert said == {403: guessing.PAIR.free, 429: TRIES - guessing.PAIR.free}


def test_a_proxy_that_is_trusted_says_for_whom_it_asks_and_how(premises: Premises) -> None:
    with served(premises, "127.0.0.1") as client:
        said = Counter(guess(client, number).status_code for number in range(TRIES))
        cookie = guess(client, TRIES, PASSWORD).headers["set-cookie"]
    assert said == {403: TRIES}
    assert "Secure" in cookie


def test_a_scheme_that_is_only_claimed_is_not_believed(premises: Premises) -> None:
    with served(premises, "") as client:
        assert "Secure" not in guess(client, 1, PASSWORD).headers["set-cookie"]
