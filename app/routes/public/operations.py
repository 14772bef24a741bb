"""The table of operations over HTTP: a route a row, and the description that is made of them."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.responses import JSONResponse, Response

from app import premises
from app.edge import login, pools, problems
from app.operations import uploads
from app.operations.operation import Operation, Received
from app.operations.table import OPERATIONS
from app.routes.public import description
from app.routes.public.calls import FILE, Call
from backend.domain import Person

JSON = "application/json"
LONGEST_KEY = 100
KEY = "key"
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=LONGEST_KEY,
        description="What is sent again under the same key is answered, not done again.",
    ),
]
Parameters = list[inspect.Parameter]


@cache
def router() -> APIRouter:
    """A route for each operation."""
    made = APIRouter(prefix=problems.API, route_class=pools.Pooled)
    made.add_api_route("/openapi.json", described, include_in_schema=False)
    for one in OPERATIONS.values():
        made.add_api_route(
            one.path,
            _files(one) if one.sends else _answers(one),
            methods=[one.method],
            name=one.name,
            operation_id=one.name,
            tags=[one.room],
            summary=one.says.partition("\n")[0],
            description=one.says,
            dependencies=[Depends(_demanded(one))],
            response_model=None if one.sends else one.hints["return"],
            responses=description.answers(one),
            openapi_extra=description.more(one),
        )
    return made


async def described() -> Response:
    """The description of the API, as OpenAPI 3.1 has it."""
    return JSONResponse(_description())


@cache
def _description() -> dict[str, Any]:
    return description.whole(router().routes)


def _demanded(one: Operation) -> Callable[..., Awaitable[None]]:
    async def demanded(asking: Annotated[Person, Depends(login.person)]) -> None:
        login.demand(asking, one.role)

    return demanded


def _answers(one: Operation) -> Callable[..., Response]:

    def answer(at: premises.Premises, key: str = "", **given: Any) -> Response:
        call = Call(one, at, given, key)
        if not one.changes:
            return Response(call.read(), media_type=JSON)
        told, again = call.change()
        headers = {"idempotency-replayed": "true"} if again else None
        return Response(told, headers=headers, media_type=JSON)

    parameters = _parameters(one)
    if one.changes:
        parameters.append(_parameter(KEY, Key, ""))
    return _signed(pools.heavy(answer) if one.long else answer, parameters, one)


def _files(one: Operation) -> Callable[..., Response]:
    def answer(at: premises.Premises, **given: Any) -> Response:
        told: Response = one.work(at, **given)
        return told

    pool = pools.picture if one.sends.startswith("image/") else pools.heavy
    return _signed(pool(answer), _parameters(one), one)


def _parameters(one: Operation) -> Parameters:
    """What FastAPI is to read of a request: names of the path, and what is asked besides."""
    found = [_parameter("at", premises.At)]
    found += [_parameter(name, kind) for name, kind in one.parameters.items()]
    if one.asked is not None:
        in_query = one.takes_file or not one.changes
        found.append(_parameter("asked", Annotated[one.asked, Query()] if in_query else one.asked))
    if one.takes_file:
        found.append(_parameter(FILE, Annotated[Received, Depends(_received)]))
    return found


async def _received(request: Request, at: premises.At) -> AsyncIterator[Received]:
    """The body; where the rest of the request is unusable, nobody takes it."""
    file = await uploads.receive(at, request.path_params["project"], request.stream())
    try:
        yield file
    finally:
        if file.path.exists():
            uploads.drop(file)


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=kind)


def _signed(
    answer: Callable[..., Response], parameters: Parameters, one: Operation
) -> Callable[..., Response]:
    """The function as FastAPI reads it."""
    setattr(answer, "__signature__", inspect.Signature(parameters))  # noqa: B010
    answer.__name__ = one.name
    return answer
