"""The whole web application over a real home folder, called without a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app import cli, server
from app.premises import Premises
from backend import settings
from backend.domain import Project, Role
from backend.labels import samples
from backend.projects import catalogue, people
from backend.settings import Settings

HERE = "http://127.0.0.1"
WRITE = {"X-Loupe": "1"}
PASSWORD = "correct horse"


@pytest.fixture(scope="session")
def premises(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    """Premises on SQLite, without accounts; each test makes its own project in it."""
    opened = server.open_premises(Settings(home=tmp_path_factory.mktemp("premises")))
    yield opened
    opened.database.close()


@pytest.fixture(scope="session")
def client(premises: Premises) -> Iterator[TestClient]:
    """Asks as this machine's owner."""
    with TestClient(server.create(premises), base_url=HERE) as asking:
        yield asking


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    """Premises with accounts: vera looks, lars labels, ada rules."""
    opened = server.open_premises(
        Settings(home=tmp_path_factory.mktemp("guarded")), with_accounts=True
    )
    with opened.write() as session:
        people.add(session, "vera", Role.VIEWER, PASSWORD)
        people.add(session, "lars", Role.LABELER, PASSWORD)
        people.add(session, "ada", Role.ADMIN, PASSWORD)
    yield opened
    opened.database.close()


@pytest.fixture(scope="session")
def asking_guarded(guarded: Premises) -> Iterator[TestClient]:
    """Asks premises with accounts."""
    with TestClient(server.create(guarded), base_url=HERE, follow_redirects=False) as asking:
        yield asking


@pytest.fixture
def stranger(asking_guarded: TestClient) -> TestClient:
    """Asks premises with accounts without having logged in."""
    asking_guarded.cookies.clear()
    return asking_guarded


class Said:
    """What a command printed and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["loupe", *arguments])
            try:
                cli.main()
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def json(self, *arguments: str) -> Any:
        code, out, _ = self(*arguments, "--json")
        assert code == 0
        return json.loads(out)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the commands that a test calls."""
    monkeypatch.setenv("LOUPE_HOME", str(tmp_path / "home"))
    settings.current.cache_clear()
    return tmp_path / "home"


@pytest.fixture
def loupe(home: Path, capsys: pytest.CaptureFixture[str]) -> Said:  # noqa: ARG001
    """Calls commands as a person would."""
    return Said(capsys)


def log_in(client: TestClient, name: str) -> None:
    """Get the cookie of a person."""
    answer = client.post("/login", data={"name": name, "password": PASSWORD})
    assert answer.status_code == 303


def drawn(premises: Premises, images: int = 3) -> Project:
    """A new project of drawn boards."""
    pictures = samples.draw(premises.files, "pcb", images, seed=1)
    with premises.write() as session:
        name = f"boards {len(catalogue.summaries(session))}"
        return samples.create(session, name, "pcb", pictures)
