"""No statement that goes to a warehouse has a value written into it; names stand in quotes.

What is written into one is listed here, file by file: names of ours, quoted ones, marks of values
and statements made of those. Whoever writes another one in looks first whether it is a value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

BACKEND = Path(__file__).parents[2] / "backend"
HOUSES = (BACKEND / "warehouse", BACKEND / "incoming")
WORDS = (
    "SELECT ", "INSERT ", "DELETE ", "UPDATE ", "GET ", "LIST ", "COPY ", "FROM ", "IN (", "PUT ",
    "CREATE ", "DROP ", "ALTER ", "MERGE ", "GRANT ", "WHERE ", "VALUES", "JOIN ", "SET ",
)  # fmt: skip
QUOTING = {"quoted", "_quoted", "in_sql", "_column", "literal"}
OURS = {"kind.table", "kind.name", "kind.view", "one.name", "one.column", "TYPES[one.type]"}
PARTS = {
    "account.py": {"schema", "name", "columns", "form"},
    "administration.py": {"database", "house", "name", "place", "role", "schema", "user"},
    "base.py": {"mark", "news", "source", "values", "where"},
    "boards.py": {"board", "columns", "place", "where"},
    "example.py": {"whole", "nodes", "one", "place", "listed", "role"},
    "outbox.py": {
        "body", "event", "gone", "head", "key", "name", "now_", "of", "on", "tail", "urgent",
        "was", "weight", "when", "table.name", "given[event]",
    },
    "picture_views.py": {"text", "texts", "told", "BASE64[dialect]"},
    "postgresql.py": {"columns", "name", "said", "select", "staging", "where", "role", "schema"},
    "snowflake.py": {
        "columns", "name", "names", "news", "path", "place", "same", "select", "source",
        "staging", "table", "told", "where",
    },
    "snowsight.py": {"file", "house", "name", "place"},
    "sqlite.py": {"name", "select", "values", "where"},
    "tables.py": {"file", "image", "marks", "place", "select", "sql", "once", "home"},
    "views.py": {"board", "day", "height", "id_", "joined", "list_", "width"},
}  # fmt: skip
MADE = {"join", "gone", "_staging", "_labelled", "lower", "replace"}


def modules() -> list[Path]:
    return sorted(path for house in HOUSES for path in house.rglob("*.py"))


def statements(path: Path) -> Iterator[ast.JoinedStr]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr) and any(word in text(node) for word in WORDS):
            yield node


def text(node: ast.JoinedStr) -> str:
    return "".join(str(one.value) for one in node.values if isinstance(one, ast.Constant))


def is_no_value(path: Path, inside: ast.expr) -> bool:
    told = ast.unparse(inside)
    if told.isupper() or told in OURS | PARTS.get(path.name, set()):
        return True
    if isinstance(inside, ast.Attribute):
        return told.startswith("KINDS[") and inside.attr == "table"
    if isinstance(inside, ast.BinOp):  # a name that is as long as one may be
        return "LARGEST_NAME" in told
    if isinstance(inside, ast.Call):
        called = inside.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in QUOTING | MADE
    return False


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.name)
def test_what_is_written_into_a_statement_is_no_value(path: Path) -> None:
    for node in statements(path):
        for one in node.values:
            if isinstance(one, ast.FormattedValue):
                assert is_no_value(path, one.value), f"{node.lineno}: {ast.unparse(one.value)}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.name)
def test_no_statement_is_made_of_text_by_percent_signs(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            said = ast.unparse(node.left)
            assert not any(word in said for word in WORDS), f"{node.lineno}: {said}"


def test_there_are_statements() -> None:
    assert sum(len(list(statements(path))) for path in modules()) > 50
