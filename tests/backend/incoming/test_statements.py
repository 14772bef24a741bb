"""No statement that goes to Snowflake has a value written into it; names stand in quotes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[3] / "backend" / "incoming"
WORDS = ("SELECT ", "INSERT ", "DELETE ", "UPDATE ", "GET ", "LIST ", "COPY ", " FROM ", " IN (")
# What stands in a statement otherwise: a name that is quoted, marks of values, and parts of it.
QUOTED = {"_in_sql", "quoted", "_column"}
PARTS = {"select", "place", "sql", "once", "file", "image", "marks", "home"}


def statements() -> list[tuple[str, ast.JoinedStr]]:
    found = []
    for path in sorted(HOUSE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr) and any(word in text(node) for word in WORDS):
                found.append((f"{path.name}:{node.lineno}", node))
    return found


def text(node: ast.JoinedStr) -> str:
    return "".join(str(one.value) for one in node.values if isinstance(one, ast.Constant))


def is_no_value(inside: ast.expr) -> bool:
    if isinstance(inside, ast.Name):
        return inside.id in PARTS
    if isinstance(inside, ast.Call):
        called = inside.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in QUOTED or name == "join"
    return False


@pytest.mark.parametrize(("where", "node"), statements())
def test_what_is_written_into_a_statement_is_a_quoted_name(where: str, node: ast.JoinedStr) -> None:
    for one in node.values:
        if isinstance(one, ast.FormattedValue):
            assert is_no_value(one.value), f"{where}: {ast.unparse(one.value)}"


def test_there_are_statements() -> None:
    assert len(statements()) > 3
