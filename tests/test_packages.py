"""Each folder opens with a sentence: what it is and, in the house, what it may ask."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ("app", "backend", "workers")
FOLDERS = sorted(
    path.parent.relative_to(ROOT).as_posix()
    for layer in (*HOUSE, "tests")
    for path in (ROOT / layer).rglob("*.py")
)
SCRIPTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "assets").rglob("*.js"))
# What tools make or lay out by a shape of their own.
OTHERS = ("backend/storage/migrations/versions",)


@pytest.mark.parametrize("name", sorted({*FOLDERS} - {*OTHERS}))
def test_a_folder_says_what_it_is(name: str) -> None:
    told = ast.get_docstring(ast.parse((ROOT / name / "__init__.py").read_text("utf-8"))) or ""
    sentence = told.partition("\n")[0]
    assert len(sentence) > 20, name
    assert sentence.endswith((".", ":")), sentence
    if name.startswith(HOUSE):
        assert "may ask" in told, f"{name} opens with {told!r}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_what_it_is(name: str) -> None:
    opening = re.match(r"/\*\*\s+(?:\* )?(.+?)\s*\*/", (ROOT / name).read_text("utf-8"), re.DOTALL)
    assert opening, name
    assert len(opening[1]) > 20, name
