"""What the README says is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from backend.settings import Settings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_readme_names_every_setting_and_no_other() -> None:
    named = set(re.findall(r"^\| `LOUPE_(\w+)`", README, flags=re.MULTILINE))
    assert {name.lower() for name in named} == set(Settings.model_fields)


def test_the_house_on_the_first_page_is_the_house() -> None:
    root = Path(__file__).parents[1]
    for name in re.findall(r"^(\w+)/ ", README, flags=re.MULTILINE):
        assert (root / name).is_dir(), name
