"""Commands that keep a home safe and tidy, as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from app import cli
from backend import settings
from backend.storage import engine
from backend.storage.tables import ImageRow

loupe = CliRunner()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a small project."""
    enter(monkeypatch, tmp_path / "home")
    assert loupe.invoke(cli.cli, ["sample", "demo", "--images", "3"]).exit_code == 0
    return tmp_path


def enter(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setenv("LOUPE_HOME", str(place))
    settings.current.cache_clear()


def asked(*words: str, typed: str = "") -> tuple[int, str]:
    answer = loupe.invoke(cli.cli, list(words), input=typed)
    return answer.exit_code, answer.stdout


def test_a_home_is_copied_and_brought_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = asked("backup", str(home / "b"), "--json")
    assert (code, json.loads(said)["missing"]) == (0, [])
    enter(monkeypatch, home / "other")
    assert asked("restore", str(home / "b"))[0] == 0
    assert [one["name"] for one in json.loads(asked("projects", "--json")[1])] == ["demo"]
    settings.current.cache_clear()


@pytest.mark.usefixtures("home")
def test_a_project_goes_when_its_name_is_typed_and_its_pictures_with_the_next_tidy() -> None:
    assert asked("remove", "demo", typed="something\n")[0] != 0
    assert len(json.loads(asked("projects", "--json")[1])) == 1
    code, said = asked("remove", "demo", typed="demo\n")
    assert (code, "demo is gone" in said) == (0, True)
    assert json.loads(asked("projects", "--json")[1]) == []
    # They were drawn a moment ago, and what is fresh stays for a day.
    assert json.loads(asked("tidy", "--dry-run", "--json")[1]) == {"files": 0, "bytes": 0}
    settings.current.cache_clear()


@pytest.mark.usefixtures("home")
def test_nothing_is_purged_where_nothing_was_put_away() -> None:
    assert asked("purge", "demo", "--json") == (0, '{"images": 0}\n')
    settings.current.cache_clear()


@pytest.mark.usefixtures("home")
def test_a_home_is_checked_and_mended() -> None:
    assert asked("check")[0] == 0
    database = engine.connect(settings.current())
    with database.write.begin() as session:
        session.execute(update(ImageRow).values(boxes=99))
    database.close()
    code, said = asked("check", "--json")
    assert (code, json.loads(said)["clean"]) == (1, False)
    assert "says that it has 99 boxes" in asked("check")[1]
    assert "Mended: Image" in asked("check", "--repair")[1]
    assert json.loads(asked("check", "--json")[1])["findings"] == []
