"""What the environment says, and what it leaves unsaid."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend import settings
from backend.errors import Invalid
from backend.projects import catalogue
from backend.storage import engine


@pytest.mark.parametrize(
    ("said", "meant"), [("", Path.home() / ".loupe"), ("here", Path("here").absolute())]
)
def test_no_database_lands_in_the_folder_where_a_command_is_typed(
    said: str, meant: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOUPE_HOME", said)
    monkeypatch.delenv("LOUPE_DATABASE_URL", raising=False)
    assert settings.read().home == meant
    assert settings.read().operational_url == f"sqlite:///{meant}/loupe.db"


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOUPE_CACHE_GB", "much")
    with pytest.raises(Invalid, match="setting LOUPE_CACHE_GB is wrong"):
        settings.read()


def test_a_new_home_is_for_its_owner_alone(tmp_path: Path) -> None:
    known = settings.Settings(home=tmp_path / "new")
    settings.make_home(known)
    opened = engine.connect(known)
    engine.create_tables(opened)
    with opened.write.begin() as session:
        catalogue.create(session, "line 3")
    kept = {path: path.stat().st_mode & 0o777 for path in known.home.iterdir()}
    opened.close()
    assert known.home.stat().st_mode & 0o777 == 0o700
    assert kept == dict.fromkeys(kept, 0o600)


def test_a_home_that_was_there_stays_as_open_as_it_was(tmp_path: Path) -> None:
    known = settings.Settings(home=tmp_path / "there")
    known.home.mkdir()
    known.home.chmod(0o755)
    (known.home / "loupe.db").touch(0o640)
    settings.make_home(known)
    engine.connect(known).close()
    modes = [path.stat().st_mode & 0o777 for path in (known.home, known.home / "loupe.db")]
    assert modes == [0o755, 0o640]
