"""The first page is short, and what it says is so."""

from __future__ import annotations

import re

from tests.guide import paper

TEXT = paper.README.read_text("utf-8")
MOST = 150


def test_the_first_page_is_short() -> None:
    assert len(TEXT.splitlines()) <= MOST


def test_its_links_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        assert paper.broken(paper.ROOT / name) == []


def test_the_house_on_the_first_page_is_the_house() -> None:
    for name in re.findall(r"^(\w+)/ ", TEXT, flags=re.MULTILINE):
        assert (paper.ROOT / name).is_dir(), name


def test_every_page_of_the_guide_is_named() -> None:
    assert {f"assets/guide/{name}.md" for name in paper.pages()} <= set(paper.LINK.findall(TEXT))
