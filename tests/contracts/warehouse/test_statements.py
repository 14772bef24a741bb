"""No statement that goes to a warehouse has a value written into it; names stand in quotes.

What is written into one is listed here, function by function: names of ours, quoted ones, marks
of values and statements made of those. Whoever writes another one in looks first what it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

BACKEND = Path(__file__).parents[3] / "backend"
HOUSES = (BACKEND / "warehouse", BACKEND / "incoming")
WORDS = (
    "SELECT ", "INSERT ", "DELETE ", "UPDATE ", "GET ", "LIST ", "COPY ", "FROM ", "IN (", "PUT ",
    "CREATE ", "DROP ", "ALTER ", "MERGE ", "GRANT ", "WHERE ", "VALUES", "JOIN ", "SET ",
)  # fmt: skip
QUOTING = {"quoted", "_quoted", "in_sql", "_column", "literal"}
OURS = {"kind.table", "kind.name", "kind.view", "one.name", "one.column", "TYPES[one.type]"}
PARTS = {
    "account.py": {
        "_drop": "schema", "_picture": "form", "_put": "columns name", "_schema": "schema",
        "_views": "name",
    },
    "administration.py": {"script": "database house name place role schema user"},
    "base.py": {
        "select_now": "source where", "standing": "mark where", "upsert": "news values",
    },
    "boards.py": {"lots": "board columns place where"},
    "example.py": {"_entered": "one role", "script": "listed nodes place role whole"},
    "outbox.py": {
        "_drop": "name on",
        "_for_postgresql": "body event given[event] name table.name",
        "_for_sqlite": "body name of table.name when",
        "_note_in_postgresql": "head key now_ tail urgent was weight",
        "_note_in_sqlite": "gone head tail urgent weight",
    },
    "picture_views.py": {"_boxes": "BASE64[dialect]", "_pictures": "text texts told"},
    "postgresql.py": {
        "_replaced": "name select", "_sentence": "said schema", "check": "role schema",
        "lay": "name select", "merge": "staging where", "stage": "columns staging",
    },
    "snowflake.py": {
        "_put": "path place", "_tombstones": "names same staging where", "_tried": "table",
        "check": "told", "lay": "name select", "merge": "names news same source staging",
        "stage": "columns", "staged": "staging",
    },
    "snowsight.py": {"script": "file house name place"},
    "sqlite.py": {"_fits": "values", "lay": "name select", "merge": "where"},
    "tables.py": {"_told": "place select", "pictures": "file image marks"},
    "views.py": {
        "_defect_logs": "height id_ width", "_result": "joined list_", "_seen": "board day",
    },
}  # fmt: skip
MADE = {"join", "gone", "_staging", "_labelled", "lower", "replace"}


def modules() -> list[Path]:
    return sorted(path for house in HOUSES for path in house.rglob("*.py"))


def statements(node: ast.AST, function: str = "") -> Iterator[tuple[str, ast.JoinedStr]]:
    """Each with the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) and any(word in text(child) for word in WORDS):
            yield function, child
        inside = child.name if isinstance(child, ast.FunctionDef) else function
        yield from statements(child, inside)


def text(node: ast.JoinedStr) -> str:
    return "".join(str(one.value) for one in node.values if isinstance(one, ast.Constant))


def is_no_value(parts: str, inside: ast.expr) -> bool:
    told = ast.unparse(inside)
    if told.isupper() or told in OURS | set(parts.split()):
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


def values(name: str, code: str) -> list[str]:
    """What is written into a statement of a module and is not known to be no value."""
    known = PARTS.get(name, {})
    return [
        f"{name}:{node.lineno}: {ast.unparse(one.value)}"
        for function, node in statements(ast.parse(code))
        for one in node.values
        if isinstance(one, ast.FormattedValue)
        and not is_no_value(known.get(function, ""), one.value)
    ]


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.name)
def test_what_is_written_into_a_statement_is_no_value(path: Path) -> None:
    assert values(path.name, path.read_text("utf-8")) == []


def test_a_value_is_found_also_where_it_is_called_as_a_name_is_elsewhere() -> None:
    code = 'def lots(said, place):\n    return f"SELECT * FROM {place} WHERE lot = {said}"\n'
    assert values("boards.py", code) == ["boards.py:2: said"]
    assert values("boards.py", code.replace("lots", "found")) == [
        "boards.py:2: place", "boards.py:2: said",
    ]  # fmt: skip


def test_no_part_is_listed_that_is_not_there() -> None:
    functions = {
        (path.name, function)
        for path in modules()
        for function, _ in statements(ast.parse(path.read_text("utf-8")))
    }
    assert {(name, one) for name, known in PARTS.items() for one in known} <= functions


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.name)
def test_no_statement_is_made_of_text_by_percent_signs(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            said = ast.unparse(node.left)
            assert not any(word in said for word in WORDS), f"{node.lineno}: {said}"


def test_there_are_statements() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in modules()]
    assert sum(len(list(statements(tree))) for tree in trees) > 50
