"""What holds for every route there is, and for each that will be added."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from app import server
from app.edge import gate
from backend.settings import Settings
from tests.app.conftest import HERE, WRITE, log_in

SECRET = "root:"
STRANGE = (
    "..%2f..%2f..%2fetc%2fpasswd",
    "..%5c..%5cetc%5cpasswd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "%2fetc%2fpasswd",
    "../../../../etc/passwd",
    "%00",
    "%3Cscript%3E",
    "a" * 3000,
)
# These may be answered with nothing found, but never break the server.
NUMBERS = ("-1", "99999999999999999999999")
# What a viewer may ask for by a method that writes: an export, what a detection would take from
# the ledger, her own way through a review, her own password and logins.
FOR_VIEWERS = {
    "/api/logins",
    "/api/logins/{number}",
    "/api/me/password",
    "/api/projects/{project}/detect/recall",
    "/api/projects/{project}/export",
    "/api/projects/{project}/training/check",
    "/api/runs/{run}/take",
    "/api/runs/{run}/sweep",
    "/api/runs/{run}/renew",
    "/api/runs/{run}/give-back",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Asks empty premises, in which no number names anything yet."""
    premises = server.open_premises(Settings(home=tmp_path_factory.mktemp("empty")))
    with TestClient(server.create(premises), base_url=HERE) as asking:
        yield asking
    premises.database.close()


@pytest.fixture(scope="module")
def table() -> list[tuple[str, str]]:
    """Each method and address of ours; Gradio's own are not."""
    rooms = [importlib.import_module(f"app.routes.{room}") for room in server.ROOMS]
    every = [route for room in rooms for route in room.router.routes]
    return sorted(
        (method, route.path.replace(":path}", "}"))
        for route in every
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    )


def parameters(path: str) -> list[str]:
    return re.findall(r"{(\w+)}", path)


def filled(path: str, name: str, value: str) -> str:
    """The address with one strange value; the others are names of nothing."""
    return re.sub(r"{(\w+)}", lambda found: value if found[1] == name else "1", path)


def addresses(table: list[tuple[str, str]]) -> Iterator[tuple[str, str, int]]:
    """Each address with each strange value in each place, and the least status that is right."""
    for method, path in table:
        for name in parameters(path):
            yield from ((method, filled(path, name, value), 400) for value in STRANGE)
            yield from ((method, filled(path, name, value), 200) for value in NUMBERS)


def test_no_parameter_of_any_route_leads_out(
    client: TestClient, table: list[tuple[str, str]]
) -> None:
    let_in = []
    for method, url, least in addresses(table):
        answer = client.request(method, url, headers=WRITE, json={})
        if not least <= answer.status_code < 500 or SECRET in answer.text:
            let_in.append((method, url[:80], answer.status_code, answer.text[:80]))
    assert not let_in, "\n".join(map(str, let_in))


def test_without_a_cookie_every_route_is_shut(
    stranger: TestClient, table: list[tuple[str, str]]
) -> None:
    for method, path in table:
        url = filled(path, "", "")
        if not url.startswith(gate.OPEN):
            answer = stranger.request(method, url, headers=WRITE, json={})
            assert answer.status_code == 401, (method, path)


def test_no_write_comes_in_without_the_header(
    client: TestClient, table: list[tuple[str, str]]
) -> None:
    for method, path in table:
        if path.startswith("/api/") and method not in gate.SAFE:
            answer = client.request(method, filled(path, "", ""), json={})
            assert answer.status_code == 403, (method, path)


def test_a_viewer_may_write_nothing(stranger: TestClient, table: list[tuple[str, str]]) -> None:
    log_in(stranger, "vera")
    for method, path in table:
        if path.startswith("/api/") and method not in gate.SAFE and path not in FOR_VIEWERS:
            url = filled(path, "action", "cancel")
            answer = stranger.request(method, url, headers=WRITE, json={})
            # Where the body is read before the role is asked, that it is unusable comes first.
            assert answer.status_code == 403, (method, path, answer.text)
