"""What our routes take and answer, as their OpenAPI description has it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from fastapi import FastAPI
from typing_extensions import is_typeddict

from app import server

Schema = Mapping[str, Any]
COMPONENTS = "#/components/schemas/"
JSON = "application/json"


@dataclass(frozen=True)
class Route:
    """A route below /api; `answer` is empty where it is a file, `body` where nothing is sent."""

    name: str
    room: str
    answer: Schema
    body: Schema


@cache
def description() -> dict[str, Any]:
    """The description of all rooms; a tag says in which room a route stands."""
    app = FastAPI()
    for room in server.ROOMS:
        app.include_router(importlib.import_module(f"app.routes.{room}").router, tags=[room])
    told = app.openapi()
    for methods in told["paths"].values():
        for one in methods.values():
            _name(one, told["components"]["schemas"])
    return told


def _name(told: dict[str, Any], known: dict[str, Schema]) -> None:
    """Put a body that was described by hand among the shapes that have a name."""
    for content in told.get("requestBody", {}).get("content", {}).values():
        if "$ref" not in content["schema"]:
            known[content["schema"]["title"]] = content["schema"]
            content["schema"] = {"$ref": COMPONENTS + content["schema"]["title"]}


def routes() -> list[Route]:
    """All of them, by address."""
    return [
        Route(f"{method.upper()} {path}", told["tags"][0], _answer(told), _body(told))
        for path, methods in sorted(description()["paths"].items())
        if path.startswith("/api/")
        for method, told in methods.items()
    ]


def components() -> dict[str, Schema]:
    """The shapes that have a name."""
    found: dict[str, Schema] = description()["components"]["schemas"]
    return found


def partial() -> set[str]:
    """The shapes of answers that may lack a field; all others have all of theirs."""
    found: set[Any] = set()
    for room in server.ROOMS:
        for route in importlib.import_module(f"app.routes.{room}").router.routes:
            _collect(route.response_model, found)
    return {one.__name__ for one in found if is_typeddict(one)}


def _collect(hint: Any, found: set[Any]) -> None:
    if (is_dataclass(hint) or is_typeddict(hint)) and hint not in found:
        found.add(hint)
        for inner in get_type_hints(hint).values():
            _collect(inner, found)
    for inner in get_args(hint):
        _collect(inner, found)


def named(schema: Schema) -> str:
    """The name of a shape that is described elsewhere, or nothing."""
    return str(schema.get("$ref", "")).removeprefix(COMPONENTS)


def within(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The shapes that a shape is made of, each with where it stands in it."""
    for name, inner in schema.get("properties", {}).items():
        yield f".{name}", inner
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping):
        yield "[]", more
    for key in ("items", "propertyNames"):
        if key in schema:
            yield "[]", schema[key]
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(key, ()):
            yield "", inner


def _answer(told: Schema) -> Schema:
    (well,) = (answer for status, answer in told["responses"].items() if status.startswith("2"))
    found: Schema = well.get("content", {}).get(JSON, {}).get("schema", {})
    return found


def _body(told: Schema) -> Schema:
    content: Mapping[str, Schema] = told.get("requestBody", {}).get("content", {})
    schemas = [one["schema"] for one in content.values()]
    return schemas[0] if schemas else {}
