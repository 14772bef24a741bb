"""The guide's page of the operations; written by `python -m tests.app.operations.paper`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from app.operations.operation import Operation
from app.operations.table import OPERATIONS, ROOMS
from app.routes.public import description
from app.routes.public.operations import router
from tests.guide import paper

FILE = paper.GUIDE / "operations.md"
PUBLIC = "/api/v1"
PLAIN = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "string": "text",
    "object": "object",
    "null": "null",
}
Schemas = Mapping[str, Any]
HEAD = """# Operations

All that programs may ask by a [token](api.md). {made}
"""
MADE = (
    "The page is made of the table in `app/operations/table.py`, by "
    "`python -m tests.app.operations.paper`; `/api/v1/openapi.json` has the same for machines."
)
SHAPES = "\n## Shapes\nWhat is answered, or stands in it; times are ISO texts.\n"


def text() -> str:
    """The page as the table has it now."""
    known = description.whole(router().routes)["components"]["schemas"]
    parts = [HEAD.format(made=MADE)]
    for room in ROOMS:
        parts.append(f"\n## Of {room.__name__.rpartition('.')[2]}\n")
        for one in room.OPERATIONS:
            parts += _operation(one, known)
    parts += [SHAPES, "| shape | its fields |", "|---|---|"]
    parts += [f"| `{name}` | {_shape(known[name], known)} |" for name in sorted(_answered(known))]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _operation(one: Operation, known: Schemas) -> Iterator[str]:
    yield f"### {one.name}"
    says = " ".join(one.says.split())
    change = "Changes something" if one.changes else "Only reads"
    yield f"{says} `{one.method} {PUBLIC}{one.path}`\n"
    yield f"{change}; role: {one.role.value}. Answers {_answer(one)}.\n"
    fields = list(_fields(one, known))
    if fields:
        yield "| field | is | besides |"
        yield "|---|---|---|"
        yield from fields
        yield ""
    yield f"```\n{_example(one)}\n```\n"


def _fields(one: Operation, known: Schemas) -> Iterator[str]:
    if one.asked is None:
        return
    schema = one.asked.model_json_schema(ref_template="{model}")
    inner = {**known, **schema.get("$defs", {})}
    for name, field in schema["properties"].items():
        said = [field["description"]] if "description" in field else []
        if name in schema.get("required", ()):
            said.append("needed")
        elif field.get("default") not in (None, "", []):
            said.append(f"{json.dumps(field['default'])} where it is left out")
        yield f"| `{name}` | {_kind(field, inner)} | {', '.join(said)} |"


def _shape(schema: Mapping[str, Any], known: Schemas) -> str:
    fields = schema["properties"].items()
    return "; ".join(f"`{name}`: {_kind(field, known)}" for name, field in fields)


def _answered(known: Schemas) -> set[str]:
    """The shapes with fields that answers are, and those that these are made of."""
    asked = {one.asked.__name__ for one in OPERATIONS.values() if one.asked}
    inner = {"NewBox", "Judged", "JudgedImage", "Missed"}
    return {name for name in known if "properties" in known[name]} - asked | inner


def _kind(field: Mapping[str, Any], known: Schemas) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return _kind(known[name], known) if "enum" in known[name] else f"`{name}`"
    if "enum" in field:
        return ", ".join(f"`{one}`" if one else "nothing" for one in field["enum"])
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_kind(one, known) for one in field["anyOf"]))
    if field.get("type") == "array":
        return f"list of: {_kind(field['items'], known)}"
    if isinstance(field.get("additionalProperties"), dict) and field["additionalProperties"]:
        return f"object of: {_kind(field['additionalProperties'], known)}"
    return PLAIN.get(field.get("type", ""), "anything")


def _example(one: Operation) -> str:
    told = dict(one.example)
    path = one.path
    for name in one.parameters:
        path = path.replace(f"{{{name}}}", str(told.pop(name)))
    in_query = one.method == "GET" or one.takes_file
    query = f"?{urlencode(told, doseq=True)}" if in_query and told else ""
    parts = ['curl -H "Authorization: Bearer $TOKEN"']
    if one.takes_file:
        parts.append(f"--data-binary @{one.example['name']}")
    elif one.method != "GET":
        parts.append(f"-X {one.method}")
        if told:
            parts.append(f"-H 'Content-Type: application/json' -d '{json.dumps(told)}'")
    return " ".join([*parts, f"'http://127.0.0.1:7860{PUBLIC}{path}{query}'"])


def _answer(one: Operation) -> str:
    return "a file" if one.sends else f"`{one.hints['return'].__name__}`"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
