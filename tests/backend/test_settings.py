"""What the environment says, and what it leaves unsaid."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend import settings
from backend.errors import Invalid


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
