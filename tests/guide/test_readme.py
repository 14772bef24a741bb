"""The first page is short, and what it says is so."""

from __future__ import annotations

import re
import tomllib

from backend.settings import Settings
from tests.guide import paper, test_guide

TEXT = paper.README.read_text("utf-8")
MOST = 150


def test_the_first_page_is_short() -> None:
    assert len(TEXT.splitlines()) <= MOST


def test_its_links_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        assert paper.broken(paper.ROOT / name) == []


def test_what_is_said_of_security_names_only_what_there_is() -> None:
    text = (paper.ROOT / "SECURITY.md").read_text("utf-8")
    settings = {f"LOUPE_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"LOUPE_\w+", text)) <= settings
    shown = [one for one in paper.code(text) if one.startswith("loupe ")]
    assert [one for one in shown if test_guide.strange(one)] == []


def test_the_newest_version_is_in_the_changelog() -> None:
    text = (paper.ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    project = tomllib.loads((paper.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert versions[:2] == ["Unreleased", project["version"]]


def test_the_house_on_the_first_page_is_the_house() -> None:
    for name in re.findall(r"^(\w+)/ ", TEXT, flags=re.MULTILINE):
        assert (paper.ROOT / name).is_dir(), name


def test_every_page_of_the_guide_is_named() -> None:
    assert {f"assets/guide/{name}.md" for name in paper.pages()} <= set(paper.LINK.findall(TEXT))
