"""Each package opens with a sentence that says what it may ask."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for layer in ("app", "backend", "workers")
    for path in (ROOT / layer).rglob("__init__.py")
)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_what_it_may_ask(name: str) -> None:
    told = ast.get_docstring(ast.parse((ROOT / name).read_text(encoding="utf-8"))) or ""
    sentence = told.splitlines()[0] if told else ""
    assert "may ask" in sentence, f"{name} opens with {sentence!r}"
