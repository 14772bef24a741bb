"""The web edge: our errors are shown as they are, all others are logged and hidden."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import login
from app.routes import shapes
from backend import errors

log = logging.getLogger(__name__)

STATUS: tuple[tuple[type[errors.LoupeError], int], ...] = (
    (errors.NotFound, 404),
    (login.TooOften, 429),
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
            answer = JSONResponse({"error": hidden(error)}, 500)
            if not started:
                await answer(scope, receive, send)


def install(app: FastAPI) -> None:
    """Answer errors of routes as JSON with one sentence."""
    app.add_exception_handler(errors.LoupeError, _ours)
    app.add_exception_handler(RequestValidationError, _unusable)
    # A number that no database takes: SQLite's driver says the first, PostgreSQL's the second.
    app.add_exception_handler(OverflowError, _too_large)
    app.add_exception_handler(DataError, _too_large)
    app.add_exception_handler(HTTPException, _http)


def hidden(error: Exception) -> str:
    """Log an error that is ours to mend; the sentence names where to find it."""
    number = secrets.token_hex(3)
    log.error("Unexpected error %s", number, exc_info=error)
    return f"Something went wrong that should not; the server's log has it as {number}."


def _ours(request: Request, error: Exception) -> Response:  # noqa: ARG001
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    body: dict[str, Any] = {"error": str(error)}
    if isinstance(error, errors.Conflict):
        body["theirs"] = shapes.revision(error.theirs)
    return JSONResponse(body, status)


def _unusable(request: Request, error: Exception) -> Response:  # noqa: ARG001
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ())[1:])
    said = first.get("msg", "it cannot be read")
    return JSONResponse(
        {"error": f"The request is unusable at {where or 'its body'}: {said}."}, 422
    )


def _too_large(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return JSONResponse({"error": "The request has a number that is too large."}, 422)


def _http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = {404: "There is nothing at this address.", 413: str(getattr(error, "detail", ""))}
    said = known.get(status, f"Refused ({status}).")
    log.debug("%s %s: %s", request.method, request.url.path, status)
    return JSONResponse({"error": said}, status)
