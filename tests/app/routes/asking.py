"""Every route of ours, and what it takes: told by FastAPI's own table."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel

from app import server
from app.routes.labels import labelling

# A save is read by hand, since it may be large; so are the filters of an address.
BY_HAND: dict[str, type[BaseModel]] = {
    "PUT /api/images/{image}/boxes": labelling.Save,
    "PUT /api/runs/{run}/repeats/{image}": labelling.Save,
}
FILTERS = (
    *("state", "split", "class", "group", "author", "golden", "proposals", "goldens", "text"),
    *("sort", "stands", "score", "defect", "since", "until", "below", "mark", "verdict"),
)


@dataclass(frozen=True)
class Asked:
    """A route: `body` is the model of its JSON, `form` and `query` are names of fields."""

    method: str
    path: str
    query: tuple[str, ...]
    form: tuple[str, ...]
    body: type[BaseModel] | None

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    @property
    def writes(self) -> bool:
        return self.method not in ("GET", "HEAD")


def routes() -> list[Asked]:
    """All of them; Gradio's own are not ours."""
    rooms = [importlib.import_module(f"app.routes.{room}") for room in server.ROOMS]
    every = [route for room in rooms for route in room.router.routes]
    found = [_asked(route) for route in every if isinstance(route, APIRoute)]
    return sorted(found, key=lambda one: one.name)


def _asked(route: APIRoute) -> Asked:
    (method,) = route.methods or ("GET",)
    path = route.path.replace(":path}", "}")
    parts = list(_parts(route.dependant))
    given: list[Any] = [field for part in parts for field in part.body_params]
    models = [one.field_info.annotation for one in given]
    body = next((one for one in models if _is_model(one)), BY_HAND.get(f"{method} {path}"))
    query = tuple(field.alias for part in parts for field in part.query_params)
    form = tuple(one.alias for one in given if not _is_model(one.field_info.annotation))
    return Asked(method, path, query, form, body)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _parts(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for inner in dependant.dependencies:
        yield from _parts(inner)
