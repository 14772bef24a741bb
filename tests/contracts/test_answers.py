"""Every route answers, and is sent, a shape in which each field has a name and a type."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import described
from tests.described import Route, Schema

# These answer a file.
FILES = {
    "GET /api/jobs/{job}/file",
    "GET /api/runs/{run}/export/{name}",
}
# Fields that have what each kind of job, family, event or run says in its own way.
OPEN = {
    "FamilyCard.defaults",
    "JobCard.result",
    "JobEvent.data",
    "Link.facts",
    "ModelCard.parameters",
    "ModelDetails.parameters",
    "ModelDetails.provenance",
    "RunCard.facts",
    "RunCard.source",
}
ROUTES = described.routes()
ANSWERS = {"type", "properties", "additionalProperties", "items", "anyOf", "oneOf", "allOf"}
SHAPES = {*ANSWERS, "$ref", "enum", "const", "prefixItems", "propertyNames"}


def vague(schema: Schema, place: str, seen: set[str]) -> Iterator[str]:
    """Where in a shape anything may stand."""
    if place in OPEN:
        return
    if name := described.named(schema):
        if name not in seen:
            seen.add(name)
            yield from vague(described.components()[name], name, seen)
        return
    is_object = schema.get("type") == "object"
    closed = "properties" in schema or isinstance(schema.get("additionalProperties"), dict)
    if not SHAPES & schema.keys() or (is_object and not closed):
        yield place
    for where, inner in described.within(schema):
        yield from vague(inner, f"{place}{where}", seen)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_an_answer_tells_the_type_of_each_field(route: Route) -> None:
    if route.name in FILES:
        assert route.answer == {}
        return
    assert list(vague(route.answer, "", set())) == []
    assert "properties" not in route.answer
    names = route.answer.get("propertyNames")
    assert route.answer.get("type") != "object" or names, "It has fields, so it is a class."


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_body_tells_the_type_of_each_field(route: Route) -> None:
    assert not route.body or described.named(route.body)
    assert list(vague(route.body, "", set())) == [""] * (not route.body)


def test_what_is_open_is_there() -> None:
    shapes = described.components()
    for name, field in (place.split(".") for place in OPEN):
        assert shapes[name]["properties"][field]["additionalProperties"] is True
    assert {one.name for one in described.routes()} >= FILES
