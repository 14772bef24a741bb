"""The web edge: our errors are shown as they are, all others are logged and hidden."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_jsonable_python
from sqlalchemy.exc import DataError, SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.edge import bearers, guessing, problems, unusable
from backend import errors
from backend.storage import outages

log = logging.getLogger(__name__)

NOTHING = "There is nothing at this address."

STATUS: tuple[tuple[type[errors.LoupeError], int], ...] = (
    (errors.NotFound, 404),
    (guessing.TooOften, 429),
    (bearers.TooMany, 429),
    (errors.Busy, 409),
    (errors.Conflict, 409),
    (errors.Denied, 403),
    (errors.Unavailable, 503),
    (errors.LoupeError, 400),
)


class Edge:
    """Catches what nobody expected: one line with a number for the person, all of it in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            log.debug("%s left before the end", scope.get("path"))
        except Exception as error:
            if scope["type"] != "http":
                raise
            told = outages.sentence(error)
            status = 503 if told else 500
            answer = problems.refusal(scope["path"], status, told or hidden(error))
            if not started:
                await answer(scope, receive, send)


def install(app: FastAPI) -> None:
    """Answer errors of routes as JSON with one sentence."""
    app.add_exception_handler(errors.LoupeError, _ours)
    app.add_exception_handler(RequestValidationError, _unusable)
    # What no database takes: of numbers SQLite's driver says the first, PostgreSQL's the second.
    for unkept in (OverflowError, DataError, UnicodeError):
        app.add_exception_handler(unkept, _not_held)
    for kind in (SQLAlchemyError, OSError):
        app.add_exception_handler(kind, _outage)
    app.add_exception_handler(HTTPException, _http)


async def nothing() -> None:
    """Where no route of ours is; Gradio, which has all other addresses, says so in its own way."""
    raise errors.NotFound(NOTHING)


def hidden(error: Exception) -> str:
    """Log an error that is ours to mend; the sentence names where to find it."""
    number = secrets.token_hex(3)
    log.error("Unexpected error %s", number, exc_info=error)
    return f"Something went wrong that should not; the server's log has it as {number}."


def _ours(request: Request, error: Exception) -> Response:
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    more: dict[str, Any] = {}
    if isinstance(error, errors.Conflict):
        more["theirs"] = to_jsonable_python(error.theirs)
    return problems.refusal(request.url.path, status, unusable.sentence(error), **more)


def _unusable(request: Request, error: Exception) -> Response:
    faults = error.errors() if isinstance(error, RequestValidationError) else []
    # Each place begins with "body", "query" or "path".
    said = unusable.words([{**one, "loc": one["loc"][1:]} for one in faults])
    return problems.refusal(request.url.path, 422, f"The request is unusable at {said}.")


def _outage(request: Request, error: Exception) -> Response:
    told = outages.sentence(error)
    if not told:
        raise error
    log.warning("%s", told)
    return problems.refusal(request.url.path, 503, told)


def _not_held(request: Request, error: Exception) -> Response:  # noqa: ARG001
    said = "a number that is too large, or a character that no text may have"
    told = f"The request has a value that cannot be kept: {said}."
    return problems.refusal(request.url.path, 422, told)


def _http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = {
        400: "The body of the request cannot be read.",
        404: NOTHING,
        405: f"{request.method} cannot be asked of this address.",
        413: str(getattr(error, "detail", "")),
    }
    said = known.get(status, f"The request was refused, with status {status}.")
    log.debug("%s %s: %s", request.method, request.url.path, status)
    return problems.refusal(request.url.path, status, said)
