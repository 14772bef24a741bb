"""The description of the public API, as OpenAPI 3.1 has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from starlette.routing import BaseRoute

from app.edge import problems
from app.operations.operation import Operation
from backend import version

SAYS = "What programs may ask of Loupe. The guide's page API has examples."
NAME = "Problem"
CONFLICT = "`theirs` is what stands now, where somebody else has saved meanwhile."
ANY_FILE = {"type": "string", "format": "binary"}


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """Why there is no answer (RFC 9457); `detail` is a sentence for who can act on it."""

    type: str
    title: str
    status: int
    detail: str


def whole(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """All of it; which commit answers is nobody's to know."""
    told = get_openapi(
        title="Loupe",
        version=version.code().partition(" ")[0],
        openapi_version="3.1.0",
        description=SAYS,
        routes=routes,
    )
    parts = told.setdefault("components", {})
    parts.setdefault("schemas", {})[NAME] = _problem()
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {**told, "security": [{"token": []}]}


def answers(one: Operation) -> dict[int | str, dict[str, Any]]:
    """What an operation may answer besides what it is asked for."""
    schema = {"$ref": f"#/components/schemas/{NAME}"}
    told: dict[int | str, dict[str, Any]] = {
        "4XX": {
            "description": f"Why not. {CONFLICT}",
            "content": {problems.MEDIA: {"schema": schema}},
        },
        "5XX": {"description": "What went wrong.", "content": {problems.MEDIA: {"schema": schema}}},
    }
    if one.sends:
        told[200] = {"description": "A file.", "content": {one.sends: {"schema": ANY_FILE}}}
    return told


def more(one: Operation) -> dict[str, Any]:
    """What FastAPI cannot tell of an operation by itself."""
    said = {"x-role": one.role.value, "x-changes": one.changes, "x-example": dict(one.example)}
    if not one.takes_file:
        return said
    content = {"application/octet-stream": {"schema": ANY_FILE}}
    return {**said, "requestBody": {"required": True, "content": content}}


@cache
def _problem() -> dict[str, Any]:
    return TypeAdapter(ProblemDetails).json_schema()
