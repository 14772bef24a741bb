"""What routes take and answer, for the JavaScript; written by `python -m tests.assets.answers`."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator

from tests import described
from tests.assets import ASSETS
from tests.described import Schema

FILE = ASSETS / "common" / "answers.js"
WIDTH, SHORT = 108, 60
GLUE = "\N{NO-BREAK SPACE}"  # keeps a short field on one line
HEAD = """/**
 * The shapes of what routes take and answer, as app/routes has them; times are ISO texts. Made by
 * `python -m tests.assets.answers`: what is written here by hand is lost.
 *
"""
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def text() -> str:
    """The module as the routes have it now."""
    lines = [line for name in sorted(_names()) for line in _typedef(name)]
    return HEAD + "\n".join(lines) + "\n */\n\nexport {};\n"


def _names() -> set[str]:
    """The shapes that routes name, and those that these are made of."""
    found: set[str] = set()
    for route in described.routes():
        for schema in (route.answer, route.body):
            _add(schema, found)
    return {name for name in found if not name.startswith("Body_")}


def _add(schema: Schema, found: set[str]) -> None:
    name = described.named(schema)
    if name and name not in found:
        found.add(name)
        _add(described.components()[name], found)
    for _, inner in described.within(schema):
        _add(inner, found)


def _typedef(name: str) -> Iterator[str]:
    schema = described.components()[name]
    shape = _type(schema, name)
    if name not in _answered():
        shape = re.sub(r"(\w+)\[\]", r"readonly \1[]", shape)
    whole = f"@typedef {{{shape}}} {name}"
    lines = textwrap.wrap(
        whole,
        WIDTH,
        initial_indent=" * ",
        subsequent_indent=" *   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from (line.replace(GLUE, " ") for line in lines)


def _type(schema: Schema, name: str = "") -> str:
    if known := described.named(schema):
        return known
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema:
        return " | ".join(map(_type, schema["anyOf"]))
    if schema.get("type") == "null":
        return "null"
    if schema.get("type") == "array":
        inner = _type(schema["items"])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if "properties" in schema:
        return _object(schema, name)
    if schema.get("type") == "object":
        return _record(schema)
    return PLAIN[schema["type"]]


def _object(schema: Schema, name: str) -> str:
    """What is answered has all of its fields; what is sent may lack those that have a default."""
    every = name in _answered() and name not in described.partial()
    needed = set(schema["properties"]) if every else set(schema.get("required", ()))
    fields = [
        f"{key}{'' if key in needed else '?'}: {_type(one)}"
        for key, one in schema["properties"].items()
    ]
    glued = (one.replace(" ", GLUE) if len(one) < SHORT else one for one in fields)
    return f"{{{', '.join(glued)}}}"


def _record(schema: Schema) -> str:
    more = schema.get("additionalProperties")
    value = _type(more) if isinstance(more, dict) else "any"
    keys = schema.get("propertyNames")
    return f"Partial<Record<{_type(keys)}, {value}>>" if keys else f"Record<string, {value}>"


def _answered() -> set[str]:
    found: set[str] = set()
    for route in described.routes():
        _add(route.answer, found)
    return found


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
